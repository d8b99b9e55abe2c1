import { isAu } from './au/au.ts';
import { FORMAT_NAMES } from './faults.ts';
import { frameHeader } from './mp3/frame-header.ts';
import { fourCC, hasText } from './reading/bytes.ts';
import type { Format, Source } from './recording.ts';

/** The format that the first bytes of a file suggest. */
export interface DetectedContent {
  /** Null for a known format that is not supported. */
  readonly format: Format | null;
  /** For messages: completes "its content is …". */
  readonly name: string;
}

const DETECTION_BYTES = 4096;

/** Null when the first bytes match no known format. */
export async function detectFormat(source: Source): Promise<DetectedContent | null> {
  const bytes = await source.read(0, DETECTION_BYTES);
  const tagBytes = leadingTagBytes(bytes);
  if (tagBytes === 0) return bySignature(bytes) ?? (looksLikeMp3(bytes) ? supported('mp3') : null);
  // Among the supported formats only FLAC and MP3 files begin with an ID3v2 tag.
  const afterTag = await source.read(tagBytes, tagBytes + 4);
  return supported(hasText(afterTag, 0, 'fLaC') ? 'flac' : 'mp3');
}

function supported(format: Format): DetectedContent {
  return { format, name: FORMAT_NAMES[format] };
}

function unsupported(name: string): DetectedContent {
  return { format: null, name };
}

function bySignature(bytes: Uint8Array): DetectedContent | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signature = fourCC(view);
  const kind = fourCC(view, 8);
  if (isAu(signature)) return supported('au');
  switch (signature) {
    case 'RIFF':
    case 'RIFX':
    case 'RF64':
    case 'BW64':
      return kind === 'WAVE'
        ? supported('wav')
        : unsupported(kind === 'AVI ' ? 'an AVI video' : 'a RIFF file without audio');
    case 'FORM':
      return kind === 'AIFF' || kind === 'AIFC' ? supported('aiff') : null;
    case 'fLaC':
      return supported('flac');
    case 'OggS':
      return supported('ogg');
    case 'caff':
      return unsupported('Core Audio (CAF)');
    case 'riff':
      return unsupported('Wave64');
    case '#!AM':
      return unsupported('AMR');
    case 'wvpk':
      return unsupported('WavPack');
    case 'MAC ':
      return unsupported("Monkey's Audio");
    case '\x1aE\xdf\xa3':
      return unsupported('Matroska or WebM');
    case '0&\xb2u':
      return unsupported('Windows Media (ASF)');
    case 'PK\x03\x04':
      return unsupported('a ZIP archive');
    case '%PDF':
      return unsupported('a PDF');
    default:
      if (fourCC(view, 4) === 'ftyp') return unsupported('MP4 (M4A)');
      return isAdts(bytes) ? unsupported('AAC') : null;
  }
}

/** The size of the ID3v2 tag at the beginning; 0 when there is none. */
function leadingTagBytes(bytes: Uint8Array): number {
  if (bytes.length < 10 || !hasText(bytes, 0, 'ID3')) return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + (bytes[5]! & 0x10 ? 10 : 0);
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
