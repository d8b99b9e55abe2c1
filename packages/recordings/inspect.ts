import { Fault } from '@call-analysis/fault';
import { aiff } from './aiff/aiff.ts';
import { au, isAu } from './au/au.ts';
import { describeChannels, invalidFormat, nameOf, unreadable } from './faults.ts';
import { flac } from './flac/flac.ts';
import { frameHeader } from './mp3/frame-header.ts';
import { mp3 } from './mp3/mp3.ts';
import { id3v2Bytes } from './mp3/tags.ts';
import { ogg } from './ogg/ogg.ts';
import { fourCC, hasText } from './reading/bytes.ts';
import { type Container, type Format, FORMATS, type RecordingInfo, type Samples, type Source } from './recording.ts';
import { wav, WAV_KINDS } from './wav/wav.ts';

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
      ? `${problem} Convert the recording to ${nameOf(format)}.`
      : `${problem} Rename it to .${detected.format}, or convert the recording to ${nameOf(format)}.`,
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

/** The format that the first bytes of a file suggest. */
interface DetectedContent {
  /** Null for a known format that is not supported. */
  readonly format: Format | null;
  /** For messages: completes "its content is …". */
  readonly name: string;
}

const DETECTION_BYTES = 4096;

/** Null when the first bytes match no known format. */
async function detectFormat(source: Source): Promise<DetectedContent | null> {
  const bytes = await source.read(0, DETECTION_BYTES);
  const tagBytes = id3v2Bytes(bytes);
  if (tagBytes === 0) return bySignature(bytes) ?? (looksLikeMp3(bytes) ? supported('mp3') : null);
  // Among the supported formats only FLAC and MP3 files begin with an ID3v2 tag.
  const afterTag = await source.read(tagBytes, tagBytes + 4);
  return supported(hasText(afterTag, 0, 'fLaC') ? 'flac' : 'mp3');
}

function supported(format: Format): DetectedContent {
  return { format, name: nameOf(format) };
}

function unsupported(name: string): DetectedContent {
  return { format: null, name };
}

const SIGNATURES: Readonly<Record<string, DetectedContent>> = {
  fLaC: supported('flac'),
  OggS: supported('ogg'),
  caff: unsupported('Core Audio (CAF)'),
  riff: unsupported('Wave64'),
  '#!AM': unsupported('AMR'),
  wvpk: unsupported('WavPack'),
  'MAC ': unsupported("Monkey's Audio"),
  '\x1aE\xdf\xa3': unsupported('Matroska or WebM'),
  '0&\xb2u': unsupported('Windows Media (ASF)'),
  'PK\x03\x04': unsupported('a ZIP archive'),
  '%PDF': unsupported('a PDF'),
};

function bySignature(bytes: Uint8Array): DetectedContent | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signature = fourCC(view);
  const kind = fourCC(view, 8);
  if (isAu(signature)) return supported('au');
  if (WAV_KINDS.includes(signature)) {
    if (kind === 'WAVE') return supported('wav');
    return unsupported(kind === 'AVI ' ? 'an AVI video' : 'a RIFF file without audio');
  }
  if (signature === 'FORM') return kind === 'AIFF' || kind === 'AIFC' ? supported('aiff') : null;
  if (fourCC(view, 4) === 'ftyp') return unsupported('MP4 (M4A)');
  return SIGNATURES[signature] ?? (isAdts(bytes) ? unsupported('AAC') : null);
}

/**
 * A frame header is too short to distinguish MP3 from noise, so a second one must follow where the first frame ends.
 */
function looksLikeMp3(bytes: Uint8Array): boolean {
  const first = frameHeader(bytes, 0);
  if (!first || first.sizeBytes === 0) return false;
  const second = frameHeader(bytes, first.sizeBytes);
  return second !== null && second.sampleRate === first.sampleRate && second.layer === first.layer;
}

/** An ADTS frame of AAC begins like a frame of MPEG audio, with a layer number that MPEG audio does not use. */
function isAdts(bytes: Uint8Array): boolean {
  return bytes.length >= 7 && bytes[0] === 0xff && (bytes[1]! & 0xf6) === 0xf0;
}
