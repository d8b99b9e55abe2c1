import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Poison } from '@call-analysis/bus';
import { INLINE_BYTES, type Utterance } from '@call-analysis/events';
import { type Objects, openDisk } from '@call-analysis/objects';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packTranscript, removePackedTranscripts, unpackTranscript } from './transcripts.ts';

let directory: string;
let objects: Objects;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'transcripts-'));
  objects = await openDisk({ directory, secret: 'x'.repeat(32) });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const newCall = (attempt = 1) => ({ firmUuid: randomUUID(), callUuid: randomUUID(), attempt });

/** Utterances whose JSON document has exactly this many bytes. */
function utterancesOf(bytes: number, filler = 'x'): Utterance[] {
  const utterance = (text: string): Utterance => ({ role: 'client', text, start: null, end: null });
  const room = bytes - Buffer.byteLength(JSON.stringify({ utterances: [utterance('')] }));
  const fillerBytes = Buffer.byteLength(filler);
  return [utterance(filler.repeat(Math.floor(room / fillerBytes)) + 'x'.repeat(room % fillerBytes))];
}

describe('a packed transcript', () => {
  it('of exactly INLINE_BYTES is inline', async () => {
    const call = newCall();
    const utterances = utterancesOf(INLINE_BYTES);
    expect(Buffer.byteLength(JSON.stringify({ utterances }))).toBe(INLINE_BYTES);
    const packed = await packTranscript(objects, call, utterances);
    expect(packed).toEqual({ utterances });
    expect(await unpackTranscript(objects, packed)).toEqual(utterances);
    expect(await removePackedTranscripts(objects, call.firmUuid, call.callUuid)).toBe(0);
  });

  it('of one byte more is in the object store, under the key of its firm, call and attempt', async () => {
    const call = newCall(3);
    const utterances = utterancesOf(INLINE_BYTES + 1);
    const packed = await packTranscript(objects, call, utterances);
    expect(packed).toEqual({ key: `transcripts/${call.firmUuid}/${call.callUuid}/3.json` });
    expect(await unpackTranscript(objects, packed)).toEqual(utterances);
  });

  it('is measured in bytes, not in characters', async () => {
    const utterances = utterancesOf(INLINE_BYTES + 1, 'ж');
    expect(JSON.stringify({ utterances }).length).toBeLessThan(INLINE_BYTES);
    expect(await packTranscript(objects, newCall(), utterances)).toHaveProperty('key');
  });

  it.each([
    ['is no JSON', '{"utterances": [{"text": "my card is 4111'],
    ['is no transcript', '{"utterances": [{"role": "client", "text": "my card is 4111"}]}'],
  ])('whose object %s is poison, and the error does not quote it', async (_, document) => {
    const key = `transcripts/${randomUUID()}/${randomUUID()}/1.json`;
    await objects.put(key, Readable.from([document]));
    const error = await unpackTranscript(objects, { key }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Poison);
    expect(error).toMatchObject({ code: 'TRANSCRIPT_UNREADABLE' });
    expect(String((error as Poison).stack) + String((error as Poison).cause)).not.toMatch(/4111/);
  });

  it('whose object cannot be opened is retried, because the store may recover', async () => {
    const error = await unpackTranscript(objects, { key: `transcripts/${randomUUID()}/none.json` }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(Poison);
  });

  it('is removed with those of all attempts of its call, which are counted, and with no others', async () => {
    const call = newCall(1);
    const other = { ...newCall(1), firmUuid: call.firmUuid };
    const large = utterancesOf(INLINE_BYTES + 1);
    await packTranscript(objects, call, large);
    await packTranscript(objects, { ...call, attempt: 2 }, large);
    const kept = await packTranscript(objects, other, large);
    expect(await removePackedTranscripts(objects, call.firmUuid, call.callUuid)).toBe(2);
    expect(await removePackedTranscripts(objects, call.firmUuid, call.callUuid)).toBe(0);
    expect(await unpackTranscript(objects, kept)).toEqual(large);
  });
});
