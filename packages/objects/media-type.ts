import { extname } from 'node:path';

const TYPES: Record<string, string> = {
  '.csv': 'text/csv; charset=utf-8',
  '.zip': 'application/zip',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.flac': 'audio/flac',
  '.ogg': 'audio/ogg',
  '.aiff': 'audio/aiff',
  '.au': 'audio/basic',
};
const UNKNOWN = 'application/octet-stream';

/** Every type that objects are served with. */
export const MEDIA_TYPES: readonly string[] = [...new Set([...Object.values(TYPES), UNKNOWN])];

/** The headers that an object is served with: its type, and a `Content-Disposition` with its name. */
export function mediaType(key: string): { type: string; disposition: string } {
  const type = TYPES[extname(key).toLowerCase()] ?? UNKNOWN;
  return { type, disposition: disposition(key, type.startsWith('audio/') ? 'inline' : 'attachment') };
}

/** RFC 6266, for a name in any script. Browsers play audio in place and download everything else. */
function disposition(key: string, how: 'inline' | 'attachment'): string {
  const name = key.slice(key.lastIndexOf('/') + 1);
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `${how}; filename*=UTF-8''${encoded}`;
}
