import { type Database, openDatabase } from '@call-analysis/postgres';
import { keyManagement } from '@call-analysis/proto';
import type { KeyVerdict } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import { dial } from '@call-analysis/rpc';
import { createLog } from '@call-analysis/runtime';
import { serviceDatabase } from '@call-analysis/service/test';
import type { TestDatabase } from '@call-analysis/testing/database';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { type Config, migrations, schema, start } from '../start.ts';

/** A well-formed uuid that is not in use. */
export const UNKNOWN_UUID = '3b9f6c1e-4a52-4d0e-9a77-5d1f0c2b8e64';

export const superuser = { user_uuid: UNKNOWN_UUID, firm_uuid: UNKNOWN_UUID, role: 'SUPERUSER', address: '192.0.2.7' };
export const engineer = { ...superuser, role: 'WORKFLOW_ENGINEER' };
export const admin = { ...superuser, role: 'ADMIN' };

type Client = ReturnType<typeof dialService>;

function dialService(address: string) {
  return dial(keyManagement, address, { name: 'key-management', deadlineMs: 60_000 });
}

/** The complete service with a database of its own, for the tests of one file. The tables are empty at the start of each test. */
export class TestService {
  readonly log;
  #logLines: string[] = [];
  #testDatabase: TestDatabase | undefined;
  #database: Database | undefined;
  #config: Config | undefined;
  #running: { client: Client; address: string; stop(): Promise<void> } | undefined;

  constructor() {
    this.log = createLog({ name: 'key-management', destination: { write: (line) => void this.#logLines.push(line) } });
    beforeAll(() => this.#open());
    afterAll(() => this.#close());
    beforeEach(async () => {
      await this.database.query('TRUNCATE firm, segment_type, provider_identity, firm_user, api_key, audit_entry');
    });
    afterEach(() => {
      // No test may leave an API key in the log.
      for (const line of this.#logLines) expect(line).not.toMatch(/\$[0-9A-Za-z]{43}/);
      this.#logLines = [];
    });
  }

  /** Direct access to the service's database, in the role of the service. */
  get database(): Database {
    return required(this.#database);
  }

  get config(): Config {
    return required(this.#config);
  }

  get client(): Client {
    return required(this.#running).client;
  }

  get address(): string {
    return required(this.#running).address;
  }

  async stop(): Promise<void> {
    await required(this.#running).stop();
    this.#running = undefined;
  }

  async start(change: Partial<Config> = {}): Promise<void> {
    const service = await start({ ...this.config, ...change }, { log: this.log });
    const client = dialService(service.address);
    const stop = async (): Promise<void> => {
      client.close();
      await service.close();
    };
    this.#running = { client, address: service.address, stop };
  }

  async restart(change: Partial<Config> = {}): Promise<void> {
    await this.stop();
    await this.start(change);
  }

  async newFirm(name = 'Orient Telecom'): Promise<string> {
    const { uuid } = await this.client.createFirm({ name, country: 'UZ', segment_types: ['Sales', 'Support'] });
    return uuid;
  }

  /** Creates a key and verifies it once, because the reply of that contains its uuid. */
  async newKey(firmUuid: string): Promise<{ uuid: string; apiKey: string }> {
    const { api_key: apiKey } = await this.client.createKey({ actor: superuser, firm_uuid: firmUuid });
    const { key_uuid: uuid } = await this.verify(apiKey);
    return { uuid, apiKey };
  }

  async verify(apiKey: string): Promise<KeyVerdict> {
    const { verdicts } = await this.client.verifyKeys({ api_keys: [apiKey] });
    return required(verdicts[0]);
  }

  async verdictFor(apiKey: string): Promise<string> {
    const { verdict } = await this.verify(apiKey);
    return verdict;
  }

  /** Newest first. */
  async auditedActions(filter: { firm_uuid?: string; limit?: number } = {}): Promise<string[]> {
    const { entries } = await this.client.listAudit({ limit: 1000, ...filter });
    return entries.map((entry) => entry.action);
  }

  /** Runs `work` while the audit log refuses rows. */
  async withRefusingAuditLog(work: () => Promise<void>): Promise<void> {
    await this.database.query('ALTER TABLE audit_entry ADD CONSTRAINT full_up CHECK (false) NOT VALID');
    try {
      await work();
    } finally {
      await this.database.query('ALTER TABLE audit_entry DROP CONSTRAINT full_up');
    }
  }

  async #open(): Promise<void> {
    const testDatabase = await serviceDatabase(schema, migrations);
    this.#testDatabase = testDatabase;
    const databaseUrl = testDatabase.url(schema);
    const bus = { transport: 'embedded', url: testDatabase.url('bus'), schema: 'bus' } as const;
    this.#config = {
      databaseUrl,
      bus,
      listen: '127.0.0.1:0',
      peppers: { pepper: 'a pepper of at least thirty-two bytes' },
    };
    this.#database = openDatabase({ url: databaseUrl, schema, poolSize: 2 });
    await this.start();
  }

  async #close(): Promise<void> {
    await this.#running?.stop();
    await this.#database?.close();
    await this.#testDatabase?.drop();
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The service is not running, or did not answer.');
  return value;
}
