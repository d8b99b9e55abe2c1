import { isAu } from './au/index.ts';
import { FORMAT_NAMES } from './faults.ts';
import { fourCharacters } from './header-reader.ts';
import { frameHeader } from './mp3/header.ts';
import type { Format, Source } from './recording.ts';

/** What a file's content looks like from its first bytes. */
export interface Likeness {
  /** One of ours, or null. */
  readonly format: Format | null;
  /** As people call it. */
  readonly name: string;
}

const LOOKED_AT_BYTES = 4096;

/** Null when nobody can tell. */
export async function recognise(source: Source): Promise<Likeness | null> {
  const bytes = await source.read(0, LOOKED_AT_BYTES);
  const tagBytes = idTagBytes(bytes);
  if (tagBytes === 0) return likeness(bytes) ?? (looksLikeMp3(bytes) ? ours('mp3') : null);
  // FLAC may carry the tag of MP3 before it; nothing else that is ours does.
  const behind = await source.read(tagBytes, tagBytes + 4);
  return ours(fourCharacters(viewOf(behind)) === 'fLaC' ? 'flac' : 'mp3');
}

function ours(format: Format): Likeness {
  return { format, name: FORMAT_NAMES[format] };
}

function foreign(name: string): Likeness {
  return { format: null, name };
}

function likeness(bytes: Uint8Array): Likeness | null {
  const view = viewOf(bytes);
  const mark = fourCharacters(view);
  const kind = fourCharacters(view, 8);
  if (isAu(mark)) return ours('au');
  switch (mark) {
    case 'RIFF':
    case 'RIFX':
    case 'RF64':
    case 'BW64':
      return kind === 'WAVE' ? ours('wav') : foreign(kind === 'AVI ' ? 'an AVI video' : 'a RIFF file without sound');
    case 'FORM':
      return kind === 'AIFF' || kind === 'AIFC' ? ours('aiff') : null;
    case 'fLaC':
      return ours('flac');
    case 'OggS':
      return ours('ogg');
    case 'caff':
      return foreign('Core Audio (CAF)');
    case 'riff':
      return foreign('Wave64');
    case '#!AM':
      return foreign('AMR');
    case 'wvpk':
      return foreign('WavPack');
    case 'MAC ':
      return foreign("Monkey's Audio");
    case '\x1aE\xdf\xa3':
      return foreign('Matroska or WebM');
    case '0&\xb2u':
      return foreign('Windows Media (ASF)');
    case 'PK\x03\x04':
      return foreign('a ZIP archive');
    case '%PDF':
      return foreign('a PDF');
    default:
      if (fourCharacters(view, 4) === 'ftyp') return foreign('MP4 (M4A)');
      return isAdts(bytes) ? foreign('AAC') : null;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Of an ID3v2 tag at the beginning; 0 when there is none. */
function idTagBytes(bytes: Uint8Array): number {
  if (bytes.length < 10 || bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + (bytes[5]! & 0x10 ? 10 : 0);
}

/** Two bytes are too little to tell MP3 from noise: a second frame must stand where the first one ends. */
function looksLikeMp3(bytes: Uint8Array): boolean {
  const first = frameHeader(bytes, 0);
  if (!first || first.sizeBytes === 0) return false;
  const second = frameHeader(bytes, first.sizeBytes);
  return second !== null && second.sampleRate === first.sampleRate && second.layer === first.layer;
}

/** The frames of AAC begin as those of MPEG audio do, with a layer that does not exist. */
function isAdts(bytes: Uint8Array): boolean {
  return bytes.length >= 7 && bytes[0] === 0xff && (bytes[1]! & 0xf6) === 0xf0;
}
