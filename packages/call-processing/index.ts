export { failCall, giveUpCall } from './give-up-call.ts';
export { postponeCall } from './give-up-call.ts';
export { pruneProcessed } from './tombstones.ts';
export { OUTLAST_ERASURE, stopProcessing } from './tombstones.ts';
export { removeFirm, sweepRemovedFirms } from './remove-firm.ts';
export type { FirmData, RemovedThing } from './remove-firm.ts';
export { findErased, isFirmRemoved, onceUnlessErased, writeTombstone } from './tombstones.ts';
export { packTranscript, removePackedTranscripts, unpackTranscript } from './transcripts.ts';
export { WorkInProgress } from './work-in-progress.ts';
