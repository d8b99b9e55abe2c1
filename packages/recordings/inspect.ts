import { Fault } from '@call-analysis/fault';
import { aiff } from './aiff/aiff.ts';
import { au } from './au/au.ts';
import { type DetectedContent, detectFormat } from './detect-format.ts';
import { describeChannels, FORMAT_NAMES, invalidFormat, unreadable } from './faults.ts';
import { flac } from './flac/flac.ts';
import { mp3 } from './mp3/mp3.ts';
import { ogg } from './ogg/ogg.ts';
import { type Container, type Format, FORMATS, type RecordingInfo, type Samples, type Source } from './recording.ts';
import { wav } from './wav/wav.ts';

const CONTAINERS: Readonly<Record<Format, Container>> = { aiff, au, flac, mp3, ogg, wav };
/** A longer file name is cut in the message. In code points. */
const MAX_SHOWN_NAME = 255;
const EXTENSIONS = FORMATS.map((format) => `.${format}`).join(', ');

/** The format of the file name's extension, in upper or lower case; INVALID_FILE_FORMAT for an unknown extension. */
export function formatOf(fileName: string): Format {
  const dot = fileName.lastIndexOf('.');
  const extension = dot < 0 ? '' : fileName.slice(dot + 1).toLowerCase();
  const format = FORMATS.find((each) => each === extension);
  if (!format) {
    const shown = Array.from(fileName).slice(0, MAX_SHOWN_NAME).join('');
    throw invalidFormat(`The file is called ${JSON.stringify(shown)}. Its extension must be one of ${EXTENSIONS}.`);
  }
  return format;
}

/**
 * Finds the properties of a recording. The checks run in the order of docs/recordings.md, "Faults": INVALID_FILE_FORMAT
 * for the extension, AUDIO_UNREADABLE for an empty file, INVALID_FILE_FORMAT for content that is not what the extension
 * says or for an unsupported codec, AUDIO_UNREADABLE for content that is damaged or holds no frame. Reads at most
 * 256 KiB, or more of a file whose length is not in its headers.
 */
export async function inspect(source: Source, fileName: string): Promise<RecordingInfo> {
  const format = formatOf(fileName);
  if (source.sizeBytes === 0) throw unreadable('The file is empty. Send the recording itself.');
  const detected = await detectFormat(source);
  // An MP3 may begin with any bytes, so the reader of the named format decides before the guess "MP3" counts.
  if (detected && detected.format !== 'mp3' && detected.format !== format) throw misnamed(format, detected);
  try {
    return await CONTAINERS[format].probe(source);
  } catch (error) {
    const notThisFormat = error instanceof Fault && error.code === 'INVALID_FILE_FORMAT' && detected?.format !== format;
    throw notThisFormat && detected ? misnamed(format, detected) : error;
  }
}

function misnamed(format: Format, detected: DetectedContent): Fault {
  const problem = `The file is named .${format}, but its content is ${detected.name}.`;
  return invalidFormat(
    detected.format === null
      ? `${problem} Convert the recording to ${FORMAT_NAMES[format]}.`
      : `${problem} Rename it to .${detected.format}, or convert the recording to ${FORMAT_NAMES[format]}.`,
  );
}

/** AUDIO_NOT_STEREO unless there are two channels. `details` are `{ channels }`, the number found. */
export function requireStereo(info: RecordingInfo): void {
  const { channels } = info;
  if (channels === 2) return;
  throw new Fault(
    'invalid',
    'AUDIO_NOT_STEREO',
    `The recording ${describeChannels(channels)}. It must be stereo: the operator on one channel, the client on the other.`,
    { details: { channels } },
  );
}

/** The samples of a recording that `inspect` accepted. */
export function decode(source: Source, format: Format): AsyncIterable<Samples> {
  return CONTAINERS[format].decode(source);
}
