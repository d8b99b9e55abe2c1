import type { IncomingMessage } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { unavailable } from '@call-analysis/fault';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiKeyGate, type Keys } from './api-key.ts';

const key = '1a2b3c4$abc';
const valid = { verdict: 'VALID', key_uuid: 'k1', firm_uuid: 'f1', user_uuid: 'u1' };
const revoked = { verdict: 'REVOKED', key_uuid: '', firm_uuid: '', user_uuid: '' };
const caller = { userUuid: 'u1', firmUuid: 'f1', role: 'ADMIN' };
const invalid = { kind: 'forbidden', code: 'API_KEY_INVALID' };

/** Passes when a test says so, and not while the machine is busy. */
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  jest.restoreAllMocks();
});

function request(...keys: string[]): IncomingMessage {
  const rawHeaders = keys.flatMap((key) => ['X-Service-API-Key', key]);
  return { rawHeaders } as unknown as IncomingMessage;
}

/** `asked` has the keys of each RPC joined by a comma. */
function gate(verdictOn: (apiKey: string) => Promise<typeof valid>, ttlMs?: number) {
  const asked: string[] = [];
  const keys: Keys = {
    async verifyKeys({ api_keys = [] }) {
      asked.push(api_keys.join());
      return { verdicts: await Promise.all(api_keys.map(verdictOn)) };
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
    now = 49;
    expect(await it.prove(request(key))).toEqual(caller);
    now = 50;
    await expect(it.prove(request(key))).rejects.toMatchObject(invalid);
  });

  it('ages from the moment it was asked about, not from the answer', async () => {
    let replies = 0;
    const { gate: it } = gate(async () => {
      replies += 1;
      now += 50;
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

describe('many API keys at once', () => {
  /** What key-management says of a key is written in the key. */
  const verdictIn = async (apiKey: string) => {
    const [, verdict = '', number = ''] = /^.{7}\$([A-Z]+)(\d*)$/.exec(apiKey) ?? [];
    await delay(5);
    if (verdict === 'DOWN') throw unavailable('key-management');
    return verdict === 'VALID'
      ? { verdict, key_uuid: `k${number}`, firm_uuid: `f${number}`, user_uuid: `u${number}` }
      : { ...revoked, verdict };
  };
  const keyOf = (verdict: string) => `1a2b3c4$${verdict}`;
  const proveAll = (it: ApiKeyGate, verdicts: string[]) =>
    Promise.allSettled(verdicts.map((verdict) => it.prove(request(keyOf(verdict)))));

  it('are asked about together, and each proves its own firm', async () => {
    const { gate: it, asked } = gate(verdictIn);
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    const proved = await Promise.all(numbers.map((number) => it.prove(request(keyOf(`VALID${number}`)))));
    expect(proved).toEqual(numbers.map((n) => ({ userUuid: `u${n}`, firmUuid: `f${n}`, role: 'ADMIN' })));
    expect(asked.map((keys) => keys.split(',').length)).toEqual([200, 100]);
  });

  it('are refused or malformed each for itself', async () => {
    const { gate: it } = gate(verdictIn);
    const verdicts = ['VALID1', 'VALID2', 'UNKNOWN', 'MALFORMED', 'REVOKED', 'STRANGE', 'VALID3'];
    expect(await proveAll(it, verdicts)).toMatchObject([
      { value: { firmUuid: 'f1' } },
      { value: { firmUuid: 'f2' } },
      { reason: invalid },
      { reason: { kind: 'unauthenticated', code: 'API_KEY_MALFORMED' } },
      { reason: invalid },
      { reason: { kind: 'internal' } },
      { value: { firmUuid: 'f3' } },
    ]);
  });

  it('are refused when nobody can answer, without those that are asked about apart from them', async () => {
    const { gate: it, asked } = gate(verdictIn);
    const together = proveAll(it, ['VALID1', 'DOWN', 'VALID2']);
    while (asked.length === 0) await nextTurn();
    const apart = proveAll(it, ['VALID3']);
    const down = { reason: { kind: 'unavailable' } };
    expect(await together).toMatchObject([down, down, down]);
    expect(await apart).toMatchObject([{ value: { firmUuid: 'f3' } }]);
    expect(await proveAll(it, ['VALID1'])).toMatchObject([{ value: { firmUuid: 'f1' } }]);
  });

  it('are all refused when an answer leaves one out, for nobody knows whose verdict is whose', async () => {
    const keys: Keys = {
      async verifyKeys({ api_keys = [] }) {
        const verdicts = await Promise.all(api_keys.map(verdictIn));
        return { verdicts: verdicts.slice(1) };
      },
    };
    const outcomes = await proveAll(new ApiKeyGate({ keys }), ['VALID1', 'VALID2', 'VALID3']);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('are refused when revoked while they wait for their turn', async () => {
    const { gate: it } = gate(verdictIn);
    const proving = proveAll(it, ['VALID1', 'VALID2', 'VALID3', 'VALID4']);
    it.revoke('k4');
    expect(await proving).toMatchObject([
      { value: { firmUuid: 'f1' } },
      { value: { firmUuid: 'f2' } },
      { value: { firmUuid: 'f3' } },
      { reason: invalid },
    ]);
  });
});
