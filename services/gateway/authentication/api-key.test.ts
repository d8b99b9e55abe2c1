import type { IncomingMessage } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { unavailable } from '@call-analysis/fault';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiKeyAuthentication, type Keys } from './api-key.ts';

const key = '1a2b3c4$abc';
const valid = { verdict: 'VALID', key_uuid: 'k1', firm_uuid: 'f1', user_uuid: 'u1' };
const revoked = { verdict: 'REVOKED', key_uuid: '', firm_uuid: '', user_uuid: '' };
const caller = { userUuid: 'u1', firmUuid: 'f1', role: 'ADMIN' };
const invalid = { kind: 'forbidden', code: 'API_KEY_INVALID' };

/** The tests set the time, so that a busy machine does not matter. */
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  jest.restoreAllMocks();
});

function request(...keys: string[]): IncomingMessage {
  const headersDistinct = keys.length === 0 ? {} : { 'x-service-api-key': keys };
  return { headersDistinct } as unknown as IncomingMessage;
}

/** `rpcs` has the keys of each RPC, joined by commas. */
function authenticationWith(verdictOn: (apiKey: string) => Promise<typeof valid>, ttlMs?: number) {
  const rpcs: string[] = [];
  const keys: Keys = {
    async verifyKeys({ api_keys = [] }) {
      rpcs.push(api_keys.join());
      return { verdicts: await Promise.all(api_keys.map(verdictOn)) };
    },
  };
  return { authentication: new ApiKeyAuthentication({ keys, ...(ttlMs !== undefined && { ttlMs }) }), rpcs };
}

describe('an API key', () => {
  it('has the rights of an ADMIN of its firm, and is verified once while the verdict is cached', async () => {
    const { authentication, rpcs } = authenticationWith(async () => valid);
    expect(
      await Promise.all([authentication.authenticate(request(key)), authentication.authenticate(request(key))]),
    ).toEqual([caller, caller]);
    expect(await authentication.authenticate(request(key))).toEqual(caller);
    expect(rpcs).toEqual([key]);
  });

  it('is refused once it is deleted, even when it was cached', async () => {
    const { authentication } = authenticationWith(async () => valid);
    await authentication.authenticate(request(key));
    authentication.markDeleted('k1');
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
  });

  it('is refused when its deletion overtakes the verdict that calls it valid', async () => {
    const response = Promise.withResolvers<typeof valid>();
    const { authentication } = authenticationWith(() => response.promise);
    const authenticating = authentication.authenticate(request(key));
    authentication.markDeleted('k1');
    response.resolve(valid);
    await expect(authenticating).rejects.toMatchObject(invalid);
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
  });

  it('is verified again when its deletion was not reported and the cached verdict has expired', async () => {
    let reply = valid;
    const { authentication } = authenticationWith(async () => reply, 50);
    await authentication.authenticate(request(key));
    reply = revoked;
    now = 49;
    expect(await authentication.authenticate(request(key))).toEqual(caller);
    now = 50;
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
  });

  it('is refused once its time is over, even when it was cached', async () => {
    const replies = [{ ...valid, ends_in_ms: 30 }, revoked];
    const { authentication } = authenticationWith(async () => replies.shift() ?? revoked);
    await authentication.authenticate(request(key));
    now = 29;
    expect(await authentication.authenticate(request(key))).toEqual(caller);
    now = 30;
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
  });

  it('is cached from the start of its verification, not from the end', async () => {
    let replies = 0;
    const { authentication } = authenticationWith(async () => {
      replies += 1;
      now += 50;
      return valid;
    }, 50);
    await authentication.authenticate(request(key));
    await authentication.authenticate(request(key));
    expect(replies).toBe(2);
  });

  it('that is unknown is verified each time, so that a new key works immediately', async () => {
    const { authentication, rpcs } = authenticationWith(async () => ({ ...revoked, verdict: 'UNKNOWN' }));
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject(invalid);
    expect(rpcs).toHaveLength(2);
  });

  it.each([
    ['a $ among the first 7 characters', 'a$bcdef$xyz'],
    ['7 characters of another script', Buffer.from('Ключ№€😀$xyz').toString('latin1')],
    ['7 bytes that are not UTF-8', '\xe9\xe8\xea\xeb\xe0\xe1\xe2$xyz'],
  ])('with %s is unknown, not malformed', async (_, sent) => {
    const { authentication, rpcs } = authenticationWith(async () => ({ ...revoked, verdict: 'UNKNOWN' }));
    await expect(authentication.authenticate(request(sent))).rejects.toMatchObject(invalid);
    expect(rpcs).toHaveLength(1);
  });

  it('gets the same error whether it is unknown or revoked', async () => {
    const responses = await Promise.all(
      ['UNKNOWN', 'REVOKED'].map((verdict) =>
        authenticationWith(async () => ({ ...revoked, verdict }))
          .authentication.authenticate(request(key))
          .catch((error: unknown) => JSON.stringify([error, String(error)])),
      ),
    );
    expect(responses[0]).toBe(responses[1]);
  });

  it('is refused while key-management is unavailable, and works again afterwards', async () => {
    let down = true;
    const { authentication } = authenticationWith(async () => {
      if (down) throw unavailable('key-management');
      return valid;
    });
    await expect(authentication.authenticate(request(key))).rejects.toMatchObject({ kind: 'unavailable' });
    down = false;
    expect(await authentication.authenticate(request(key))).toEqual(caller);
  });

  it('is not kept in memory', async () => {
    const { authentication } = authenticationWith(async () => valid);
    await authentication.authenticate(request(key));
    expect(inspect(authentication, { depth: null, showHidden: true })).not.toContain(key);
  });

  it.each([
    ['is missing', []],
    ['is empty', ['']],
  ])('that %s is API_KEY_REQUIRED', async (_, keys) => {
    await expect(
      authenticationWith(async () => valid).authentication.authenticate(request(...keys)),
    ).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'API_KEY_REQUIRED',
    });
  });

  it.each([
    ['too short a prefix', ['1a2b3c$abc']],
    ['too long a prefix', ['1a2b3c4d$abc']],
    ['nothing after the $', ['1a2b3c4$']],
    ['no $', ['1a2b3c4abc']],
    ['7 bytes of fewer characters', [Buffer.from('Ключ$xyz').toString('latin1')]],
    ['550 characters', [`1a2b3c4$${'a'.repeat(542)}`]],
    ['a duplicate header', [key, key]],
  ])('with %s is malformed, without an RPC', async (_, keys) => {
    const { authentication, rpcs } = authenticationWith(async () => valid);
    await expect(authentication.authenticate(request(...keys))).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'API_KEY_MALFORMED',
    });
    expect(rpcs).toEqual([]);
  });

  it('that a shell has shortened is recognised', async () => {
    await expect(authenticationWith(async () => valid).authentication.authenticate(request('1a2b3c4'))).rejects.toThrow(
      'single quotes',
    );
    await expect(
      authenticationWith(async () => valid).authentication.authenticate(request('1a2b3c4$')),
    ).rejects.toThrow('single quotes');
  });
});

describe('concurrent API keys', () => {
  /** The verdict on a key is part of the key. */
  const verdictIn = async (apiKey: string) => {
    const [, verdict = '', number = ''] = /^.{7}\$([A-Z]+)(\d*)$/.exec(apiKey) ?? [];
    await delay(5);
    if (verdict === 'DOWN') throw unavailable('key-management');
    return verdict === 'VALID'
      ? { verdict, key_uuid: `k${number}`, firm_uuid: `f${number}`, user_uuid: `u${number}` }
      : { ...revoked, verdict };
  };
  const keyOf = (verdict: string) => `1a2b3c4$${verdict}`;
  const authenticateAll = (authentication: ApiKeyAuthentication, verdicts: string[]) =>
    Promise.allSettled(verdicts.map((verdict) => authentication.authenticate(request(keyOf(verdict)))));

  it('are verified together, and each belongs to its own firm', async () => {
    const { authentication, rpcs } = authenticationWith(verdictIn);
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    const callers = await Promise.all(
      numbers.map((number) => authentication.authenticate(request(keyOf(`VALID${number}`)))),
    );
    expect(callers).toEqual(numbers.map((n) => ({ userUuid: `u${n}`, firmUuid: `f${n}`, role: 'ADMIN' })));
    expect(rpcs.map((keys) => keys.split(',').length)).toEqual([200, 100]);
  });

  it('are refused independently of each other', async () => {
    const { authentication } = authenticationWith(verdictIn);
    const verdicts = ['VALID1', 'VALID2', 'UNKNOWN', 'MALFORMED', 'REVOKED', 'STRANGE', 'VALID3'];
    expect(await authenticateAll(authentication, verdicts)).toMatchObject([
      { value: { firmUuid: 'f1' } },
      { value: { firmUuid: 'f2' } },
      { reason: invalid },
      { reason: { kind: 'unauthenticated', code: 'API_KEY_MALFORMED' } },
      { reason: invalid },
      { reason: { kind: 'internal' } },
      { value: { firmUuid: 'f3' } },
    ]);
  });

  it('are refused when their batch fails, but keys of another batch are not', async () => {
    const { authentication, rpcs } = authenticationWith(verdictIn);
    const together = authenticateAll(authentication, ['VALID1', 'DOWN', 'VALID2']);
    while (rpcs.length === 0) await nextTurn();
    const apart = authenticateAll(authentication, ['VALID3']);
    const down = { reason: { kind: 'unavailable' } };
    expect(await together).toMatchObject([down, down, down]);
    expect(await apart).toMatchObject([{ value: { firmUuid: 'f3' } }]);
    expect(await authenticateAll(authentication, ['VALID1'])).toMatchObject([{ value: { firmUuid: 'f1' } }]);
  });

  it('are all refused when a verdict is missing, because the others cannot be assigned', async () => {
    const keys: Keys = {
      async verifyKeys({ api_keys = [] }) {
        const verdicts = await Promise.all(api_keys.map(verdictIn));
        return { verdicts: verdicts.slice(1) };
      },
    };
    const outcomes = await authenticateAll(new ApiKeyAuthentication({ keys }), ['VALID1', 'VALID2', 'VALID3']);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('are refused when they are deleted while they wait for verification', async () => {
    const { authentication } = authenticationWith(verdictIn);
    const authenticating = authenticateAll(authentication, ['VALID1', 'VALID2', 'VALID3', 'VALID4']);
    authentication.markDeleted('k4');
    expect(await authenticating).toMatchObject([
      { value: { firmUuid: 'f1' } },
      { value: { firmUuid: 'f2' } },
      { value: { firmUuid: 'f3' } },
      { reason: invalid },
    ]);
  });
});
