import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkProtos, releaseProtos } from './proto.ts';

const proto = join(import.meta.dirname, '../proto');

/** The contracts in a folder of their own, one of them changed. */
function changed(file: string, from: string | RegExp, to: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'proto-'));
  cpSync(proto, folder, { recursive: true, filter: (path) => !['node_modules', 'generated'].includes(basename(path)) });
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
  return folder;
}

describe('the check of RPC contracts', () => {
  it('passes what is there', () => {
    expect(checkProtos(proto)).toEqual([]);
  });

  it('passes what is added', () => {
    const folder = changed('audio.proto', 'string audio_id = 1;', 'string audio_id = 1;\n  string more = 100;');
    expect(checkProtos(folder)).toEqual([]);
  });

  it.each([
    ['a field with another number', 'string audio_id = 1;', 'string audio_id = 9;', /"1".*"audio_id".*deleted/],
    ['a field of another type', 'string audio_id = 1;', 'int32 audio_id = 1;', /"1".*"audio_id".*"string" to "int32"/],
    ['an RPC that is gone', /service Audio \{[\s\S]*?\n\}/, 'service Audio {}', /RPC "UploadRecording".*deleted/],
    ['an RPC that streams no more', '(stream ', '(', /"UploadRecording".*client streaming/],
  ])('fails %s, and says what to do', (_what, from, to, words) => {
    const folder = changed('audio.proto', from, to);
    const [found, advice] = checkProtos(folder);
    expect(found).toMatch(words);
    expect(advice).toContain('node scripts/proto.ts release');
    releaseProtos(folder);
    expect(checkProtos(folder)).toEqual([]);
  });

  it('fails what does not parse', () => {
    expect(checkProtos(changed('audio.proto', 'message Uploader {', 'message Uploader'))[0]).toContain('audio.proto');
  });
});
