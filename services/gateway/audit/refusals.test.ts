import { Fault } from '@call-analysis/fault';
import type { RefusalInit } from '@call-analysis/proto/key_management/v1/Refusal';
import { createLog } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import type { RequestState } from '../http/response/send.ts';
import { Refusals } from './refusals.ts';

const log = createLog({ name: 'gateway', level: 'silent' });

function refused(network: string, user?: string): RequestState {
  const logFields = user === undefined ? {} : { user_uuid: user, firm_uuid: `firm of ${user}` };
  return { client: { address: network, network }, logFields };
}

function opened(isAway = () => false, isInvalid: (refusal: RefusalInit) => boolean = () => false) {
  const sent: RefusalInit[] = [];
  const refusals = new Refusals(
    {
      recordRefusals: async (request) => {
        if (isAway()) throw new Error('away');
        const refused = request.refusals!.length > 1000 || request.refusals!.some(isInvalid);
        if (refused) throw new Fault('invalid', 'VALIDATION_ERROR', 'refused');
        sent.push(...(request.refusals ?? []));
        return {};
      },
    },
    log,
  );
  return { refusals, sent };
}

describe('refused requests', () => {
  it('are recorded with address and code, once a minute for the same caller, network and code', async () => {
    const { refusals, sent } = opened();
    for (let n = 0; n < 100; n++) {
      refusals.record(refused('192.0.2.1'), 'UNAUTHENTICATED');
      refusals.record(refused('192.0.2.1', 'Ann'), 'FORBIDDEN');
    }
    refusals.record(refused('192.0.2.2'), 'UNAUTHENTICATED');
    await refusals.close();
    expect(sent).toMatchObject([
      { action: 'authentication.failed', user_uuid: '', firm_uuid: '', address: '192.0.2.1', code: 'UNAUTHENTICATED' },
      { action: 'access.refused', user_uuid: 'Ann', firm_uuid: 'firm of Ann', address: '192.0.2.1', code: 'FORBIDDEN' },
      { action: 'authentication.failed', address: '192.0.2.2' },
    ]);
  });

  it('of a flood from many addresses are bounded, and leave room for known callers', async () => {
    const { refusals, sent } = opened();
    for (let n = 0; n < 10_000; n++) refusals.record(refused(`network ${n}`), 'UNAUTHENTICATED');
    refusals.record(refused('192.0.2.1', 'Ann'), 'FORBIDDEN');
    await refusals.close();
    expect(sent).toHaveLength(61);
  });

  it('of which one cannot be recorded are recorded without it, and so are later ones', async () => {
    const { refusals, sent } = opened(undefined, ({ address }) => address === 'bad');
    for (const address of ['192.0.2.1', 'bad', '192.0.2.2']) refusals.record(refused(address), 'UNAUTHENTICATED');
    await refusals.flush();
    refusals.record(refused('192.0.2.3'), 'UNAUTHENTICATED');
    await refusals.close();
    expect(sent.map(({ address }) => address)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  });

  it('wait while key-management is away, with the same ids', async () => {
    let isAway = true;
    const { refusals, sent } = opened(() => isAway);
    refusals.record(refused('192.0.2.1'), 'API_KEY_INVALID');
    await refusals.flush();
    expect(sent).toEqual([]);
    isAway = false;
    await refusals.close();
    expect(sent).toHaveLength(1);
  });
});
