import { Fault } from '@call-analysis/fault';
import type { Format } from './recording.ts';

export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  aiff: 'AIFF',
  au: 'AU',
  flac: 'FLAC',
  mp3: 'MP3',
  ogg: 'Ogg',
  wav: 'WAV',
};

/** The recording is of its format, but broken, or holds no frame. `why` is a sentence. */
export function unreadable(why: string, cause?: unknown): Fault {
  return new Fault('invalid', 'AUDIO_UNREADABLE', why, { cause });
}

/** `found` completes "its content is …", null when nobody knows. */
export function notOfFormat(format: Format, found: string | null = null): Fault {
  const name = FORMAT_NAMES[format];
  const content = found === null ? `is not ${name}` : `is ${found}, not ${name}`;
  return wrongFormat(`The content of the .${format} file ${content}. Convert the recording to ${name}.`);
}

/** `codec` is the name that people know it by. */
export function unsupportedCodec(format: Format, codec: string): Fault {
  return wrongFormat(
    `${FORMAT_NAMES[format]} with ${codec} is not supported. Convert the recording to WAV with 16-bit PCM, A-law or ` +
      'mu-law, to FLAC or to MP3, and keep both channels.',
  );
}

/** Of another format than the name says, or of a codec that is not supported. */
export function wrongFormat(message: string): Fault {
  return new Fault('invalid', 'INVALID_FILE_FORMAT', message);
}
