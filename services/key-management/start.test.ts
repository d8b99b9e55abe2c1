import { openTcpProxy, waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { start } from './start.ts';
import { TestService, superuser } from './test/test-service.ts';

const service = new TestService();

describe('the last use of a key', () => {
  it('is written once every ten seconds for all uses, and returned in the list of keys', async () => {
    const { uuid, apiKey } = await service.newKey(await service.newFirm());
    await service.database.query('CREATE TABLE write (at timestamptz)');
    await service.database.query(
      `CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN INSERT INTO write VALUES (now()); RETURN NULL; END'`,
    );
    await service.database.query(
      'CREATE TRIGGER count_write AFTER UPDATE ON api_key FOR EACH STATEMENT EXECUTE FUNCTION count_write()',
    );
    try {
      const began = Date.now();
      for (let done = 0; done < 1_000; done += 50) {
        await Promise.all(Array.from({ length: 50 }, () => service.verdictFor(apiKey)));
      }
      const ended = Date.now();
      await service.restart();
      const stopped = Date.now();
      const writes = () => service.database.query('SELECT * FROM write');
      // The service stops without waiting for a database that does not answer, which may complete the write later.
      await waitUntil(async () => (await writes()).length >= 1);
      // One write for each ten seconds that have begun, and one at the end.
      expect((await writes()).length).toBeLessThanOrEqual(2 + Math.floor((stopped - began) / 10_000));
      const { items } = await service.client.listKeys({ actor: superuser, page: 1, size: 10 });
      expect(items[0]?.uuid).toBe(uuid);
      const lastUsed = Date.parse(items[0]?.last_used ?? '');
      expect(lastUsed).toBeGreaterThanOrEqual(began);
      expect(lastUsed).toBeLessThanOrEqual(ended);
    } finally {
      await service.database.query('DROP TRIGGER count_write ON api_key');
      await service.database.query('DROP FUNCTION count_write');
      await service.database.query('DROP TABLE write');
    }
  });

  it('does not change when the key is refused', async () => {
    const { uuid, apiKey } = await service.newKey(await service.newFirm());
    await service.stop();
    await service.database.query('UPDATE api_key SET last_used = NULL');
    await service.start();
    await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
    await service.verdictFor(apiKey);
    await service.restart();
    expect(await service.database.query('SELECT last_used FROM api_key')).toEqual([{ last_used: null }]);
  });

  it('keeps a later time that another process has written', async () => {
    const { apiKey } = await service.newKey(await service.newFirm());
    await service.database.query("UPDATE api_key SET last_used = '2126-01-01T00:00:00Z'");
    await service.verdictFor(apiKey);
    await service.restart();
    const rows = await service.database.query('SELECT last_used FROM api_key');
    expect(rows).toEqual([{ last_used: new Date('2126-01-01') }]);
  });
});

describe('a restart', () => {
  it('keeps all data', async () => {
    const firm_uuid = await service.newFirm();
    const { apiKey } = await service.newKey(firm_uuid);
    const contents = async () => [
      await service.client.listFirms({}),
      await service.client.listUsers({ firm_uuid }),
      await service.auditedActions(),
    ];
    const before = await contents();
    await service.restart();
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    expect(await contents()).toEqual(before);
  });

  it('with another pepper makes every key unknown', async () => {
    const { apiKey } = await service.newKey(await service.newFirm());
    await service.restart({ peppers: { pepper: 'another pepper of at least thirty-two bytes' } });
    expect(await service.verdictFor(apiKey)).toBe('UNKNOWN');
    await service.restart();
    expect(await service.verdictFor(apiKey)).toBe('VALID');
  });
});

describe('a database that is unavailable', () => {
  it('makes every request fail with UNAVAILABLE, and requests succeed again when it is back', async () => {
    const firm_uuid = await service.newFirm();
    const { apiKey } = await service.newKey(firm_uuid);
    const direct = new URL(service.config.databaseUrl);
    const gate = await openTcpProxy({ host: direct.hostname, port: Number(direct.port) });
    try {
      direct.port = String(gate.port);
      await service.restart({ databaseUrl: direct.href });
      expect(await service.verdictFor(apiKey)).toBe('VALID');
      await service.client.findFirm({ firm_uuid });
      await gate.cut();
      for (const request of [
        () => service.verify(apiKey),
        () => service.client.findFirm({ firm_uuid }),
        () => service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' }),
        () => service.client.createKey({ actor: superuser, firm_uuid }),
      ]) {
        await expect(request()).rejects.toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
      }
      await gate.heal();
      await waitUntil(async () => (await service.verdictFor(apiKey)) === 'VALID');
      await waitUntil(async () => (await service.client.findFirm({ firm_uuid })).firm);
      await service.stop();
      const [row] = await service.database.query<{ last_used: Date | null }>('SELECT last_used FROM api_key');
      expect(row?.last_used).not.toBeNull();
    } finally {
      await gate.close();
      await service.start();
    }
  });
});

describe('a start', () => {
  it('on an address that is in use is refused with one sentence', async () => {
    await expect(start({ ...service.config, listen: service.address }, { log: service.log })).rejects.toThrow(/in use/);
  });
});
