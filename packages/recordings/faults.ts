import { Fault } from '@call-analysis/fault';
import type { Format } from './recording.ts';

/** The usual name of a format, for messages. */
export function nameOf(format: Format): string {
  return format === 'ogg' ? 'Ogg' : format.toUpperCase();
}

/** The content is of its format but is damaged or holds no frame. `message` is a sentence. */
export function unreadable(message: string): Fault {
  return new Fault('invalid', 'AUDIO_UNREADABLE', message);
}

/** The content is not of the expected format. `found` completes "is …"; null when the content is unknown. */
export function wrongContent(format: Format, found: string | null = null): Fault {
  const name = nameOf(format);
  const content = found === null ? `is not ${name}` : `is ${found}, not ${name}`;
  return invalidFormat(`The content of the .${format} file ${content}. Convert the recording to ${name}.`);
}

/**
 * `codec` is the usual name of the codec, for the message. A conversion of a recording that is not stereo would end in
 * AUDIO_NOT_STEREO, so the advice depends on `channels`: null when their number is unknown.
 */
export function unsupportedCodec(format: Format, codec: string, channels: number | null): Fault {
  const problem = `${nameOf(format)} with ${codec} is not supported.`;
  const target = 'WAV with 16-bit PCM, A-law or mu-law, to FLAC or to MP3';
  if (channels === null || channels === 2) {
    return invalidFormat(`${problem} Convert the recording to ${target}, and keep both channels.`);
  }
  return invalidFormat(
    `${problem} The recording ${describeChannels(channels)}, so converting it is not enough: it must have two ` +
      `channels: the operator on one, the client on the other. Record or export it in stereo and convert that to ${target}.`,
  );
}

/** Completes "The recording …". */
export function describeChannels(channels: number): string {
  return channels === 1 ? 'is mono (1 channel)' : `has ${channels} channels`;
}

/** The extension, the content or the codec is not accepted. */
export function invalidFormat(message: string): Fault {
  return new Fault('invalid', 'INVALID_FILE_FORMAT', message);
}
