import { Fault } from '@call-analysis/fault';
import { aiff } from './aiff/index.ts';
import { au } from './au/index.ts';
import { FORMAT_NAMES, unreadable, wrongFormat } from './faults.ts';
import { flac } from './flac/index.ts';
import { mp3 } from './mp3/index.ts';
import { ogg } from './ogg/index.ts';
import { type Likeness, recognise } from './recognise.ts';
import { type Container, type Format, FORMATS, type RecordingInfo, type Samples, type Source } from './recording.ts';
import { wav } from './wav/index.ts';

const CONTAINERS: Readonly<Record<Format, Container>> = { aiff, au, flac, mp3, ogg, wav };
/** Code points of a name in a message. */
const SHOWN_NAME = 255;
const EXTENSIONS = FORMATS.map((format) => `.${format}`).join(', ');

/** What the extension of a file name says, in any case; INVALID_FILE_FORMAT when it is none of the six. */
export function formatOf(fileName: string): Format {
  const dot = fileName.lastIndexOf('.');
  const extension = dot < 0 ? '' : fileName.slice(dot + 1).toLowerCase();
  const format = FORMATS.find((each) => each === extension);
  if (!format) {
    const shown = Array.from(fileName).slice(0, SHOWN_NAME).join('');
    throw wrongFormat(`The file is called ${JSON.stringify(shown)}. Its extension must be one of ${EXTENSIONS}.`);
  }
  return format;
}

/**
 * What is inside a recording. The faults, in the order of api.md, section 4: INVALID_FILE_FORMAT for the extension,
 * AUDIO_UNREADABLE for no byte at all, INVALID_FILE_FORMAT for content that is not what the extension says,
 * AUDIO_UNREADABLE for what is broken or holds no frame. Reads at most 256 KiB, more only of files that do not say how
 * long they are.
 */
export async function inspect(source: Source, fileName: string): Promise<RecordingInfo> {
  const format = formatOf(fileName);
  if (source.sizeBytes === 0) throw unreadable('The file is empty. Send the recording itself.');
  const seen = await recognise(source);
  // MP3 alone may begin with anything, so its own reader says what it is before anyone guesses.
  if (seen && seen.format !== 'mp3' && seen.format !== format) throw misnamed(format, seen);
  try {
    return await CONTAINERS[format].probe(source);
  } catch (error) {
    const unknown = error instanceof Fault && error.code === 'INVALID_FILE_FORMAT' && seen?.format !== format;
    throw unknown && seen ? misnamed(format, seen) : error;
  }
}

function misnamed(format: Format, seen: Likeness): Fault {
  const what = `The file is named .${format}, but its content is ${seen.name}.`;
  return wrongFormat(
    seen.format === null
      ? `${what} Convert the recording to ${FORMAT_NAMES[format]}.`
      : `${what} Rename it to .${seen.format}, or convert the recording to ${FORMAT_NAMES[format]}.`,
  );
}

/** AUDIO_NOT_STEREO for anything but two channels: `details` are `{ channels }`, as many as there are. */
export function requireStereo(info: RecordingInfo): void {
  const { channels } = info;
  if (channels === 2) return;
  const found = channels === 1 ? 'is mono (1 channel)' : `has ${channels} channels`;
  throw new Fault(
    'invalid',
    'AUDIO_NOT_STEREO',
    `The recording ${found}. It must be stereo: the operator on one channel, the client on the other.`,
    { details: { channels } },
  );
}

/** The samples of a recording that was inspected. */
export function decode(source: Source, format: Format): AsyncIterable<Samples> {
  return CONTAINERS[format].decode(source);
}
