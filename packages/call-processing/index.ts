export { failCall, giveUpCall, postponeCall } from './call-outcome.ts';
export {
  pruneProcessed,
  OUTLAST_ERASURE,
  stopProcessing,
  findErased,
  isFirmRemoved,
  onceUnlessErased,
  writeTombstone,
} from './tombstones.ts';
export { removeFirm, sweepRemovedFirms, type FirmData, type RemovedThing } from './remove-firm.ts';
export { packTranscript, removePackedTranscripts, unpackTranscript } from './transcripts.ts';
export { WorkInProgress } from './work-in-progress.ts';
