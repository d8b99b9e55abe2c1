import type { audio } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** The services whose certificates may call each method of proto/audio.proto. */
export const callers: Callers<typeof audio> = {
  getPlayback: ['gateway'],
  uploadRecording: ['gateway'],
};
