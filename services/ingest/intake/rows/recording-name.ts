import type { ValueFault } from './row-fault.ts';

/** external-interface.md, "Single audio upload": supported extensions, in any case. */
const RECORDING = /\.(?:aiff|au|flac|mp3|ogg|wav)$/i;

export function hasRecordingExtension(fileName: string): boolean {
  return RECORDING.test(fileName);
}

export const unknownExtension: ValueFault = {
  fault: 'INVALID_FILE_FORMAT',
  message: 'audio_file_name must end in .aiff, .au, .flac, .mp3, .ogg or .wav. Convert the recording to one of these.',
};
