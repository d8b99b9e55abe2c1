import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { IncomingMessage } from 'node:http';
import { unavailable } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import { ApiKeyGate } from './api-key.ts';
import type { Keys } from './api-key.ts';

const key = '1a2b3c4$abc';
const valid = { verdict: 'VALID', key_uuid: 'k1', firm_uuid: 'f1', user_uuid: 'u1' };
const revoked = { verdict: 'REVOKED', key_uuid: '', firm_uuid: '', user_uuid: '' };
const caller = { userUuid: 'u1', firmUuid: 'f1', role: 'ADMIN' };
const invalid = { kind: 'forbidden', code: 'API_KEY_INVALID' };

function request(...keys: string[]): IncomingMessage {
  const headersDistinct = keys.length === 0 ? {} : { 'x-service-api-key': keys };
  return { headersDistinct } as unknown as IncomingMessage;
}

function gate(verifyKey: (request: { api_key?: string }) => Promise<typeof valid>, ttlMs?: number) {
  const asked: (string | undefined)[] = [];
  const keys: Keys = {
    verifyKey(request) {
      asked.push(request.api_key);
      return verifyKey(request);
    },
  };
  return { gate: new ApiKeyGate({ keys, ...(ttlMs !== undefined && { ttlMs }) }), asked };
}

describe('an API key', () => {
  it('acts as an ADMIN of its firm, and is asked about once while the answer is fresh', async () => {
    const { gate: it, asked } = gate(async () => valid);
    expect(await Promise.all([it.prove(request(key)), it.prove(request(key))])).toEqual([caller, caller]);
    expect(await it.prove(request(key))).toEqual(caller);
    expect(asked).toEqual([key]);
  });

  it('is refused once revoked even when it was cached', async () => {
    const { gate: it } = gate(async () => valid);
    await it.prove(request(key));
    it.revoke('k1');
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
  });

  it('is refused when the revocation overtakes the answer that calls it valid', async () => {
    const answer = Promise.withResolvers<typeof valid>();
    const { gate: it } = gate(() => answer.promise);
    const proving = it.prove(request(key));
    it.revoke('k1');
    answer.resolve(valid);
    await expect(proving).rejects.toMatchObject(invalid);
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
  });

  it('is asked about anew when the news of its revocation is cut and the answer has aged', async () => {
    let reply = valid;
    const { gate: it } = gate(async () => reply, 50);
    await it.prove(request(key));
    reply = revoked;
    expect(await it.prove(request(key))).toEqual(caller);
    await delay(60);
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
  });

  it('ages from the moment it was asked about, not from the answer', async () => {
    let replies = 0;
    const { gate: it } = gate(async () => {
      replies += 1;
      await delay(60);
      return valid;
    }, 50);
    await it.prove(request(key));
    await it.prove(request(key));
    expect(replies).toBe(2);
  });

  it('that is unknown is asked about each time, so that a new key works at once', async () => {
    const { gate: it, asked } = gate(async () => ({ ...revoked, verdict: 'UNKNOWN' }));
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
    expect(asked).toHaveLength(2);
  });

  it('gives the same answer whether it is unknown or revoked', async () => {
    const answers = await Promise.all(
      ['UNKNOWN', 'REVOKED'].map((verdict) =>
        gate(async () => ({ ...revoked, verdict }))
          .gate.prove(request(key))
          .catch((error: unknown) => JSON.stringify([error, String(error)])),
      ),
    );
    expect(answers[0]).toBe(answers[1]);
  });

  it('is refused when nobody can say whether it is valid, and works again after', async () => {
    let down = true;
    const { gate: it } = gate(async () => {
      if (down) throw unavailable('key-management');
      return valid;
    });
    await expect(it.prove(request(key))).rejects.toMatchObject({ kind: 'unavailable' });
    down = false;
    expect(await it.prove(request(key))).toEqual(caller);
  });

  it('never stands in the memory of the gate', async () => {
    const { gate: it } = gate(async () => valid);
    await it.prove(request(key));
    expect(inspect(it, { depth: null, showHidden: true })).not.toContain(key);
  });

  it.each([
    ['is missing', []],
    ['is empty', ['']],
  ])('that %s is asked for', async (_, keys) => {
    await expect(gate(async () => valid).gate.prove(request(...keys))).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'API_KEY_REQUIRED',
    });
  });

  it.each([
    ['too short a prefix', ['1a2b3c$abc']],
    ['too long a prefix', ['1a2b3c4d$abc']],
    ['nothing after the $', ['1a2b3c4$']],
    ['no $', ['1a2b3c4abc']],
    ['550 characters', [`1a2b3c4$${'a'.repeat(542)}`]],
    ['a twin', [key, key]],
  ])('with %s is malformed, and nobody is asked', async (_, keys) => {
    const { gate: it, asked } = gate(async () => valid);
    await expect(it.prove(request(...keys))).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'API_KEY_MALFORMED',
    });
    expect(asked).toEqual([]);
  });

  it('that a shell has eaten is recognised', async () => {
    await expect(gate(async () => valid).gate.prove(request('1a2b3c4'))).rejects.toThrow('single quotes');
    await expect(gate(async () => valid).gate.prove(request('1a2b3c4$'))).rejects.toThrow('single quotes');
  });
});
