import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, fetchWhenAvailable } from '../test/client/retry.ts';
import { admin, startCommand, type StartedCommand, postgresOf, run, runAdminHere } from '../test/system/command.ts';
import { type ServiceProcess, startService } from '../test/system/service-process.ts';

interface Firm {
  uuid: string;
  name: string;
  country: string;
  segment_types: string[];
}
interface User {
  uuid: string;
  firm_uuid: string;
  name: string;
  role: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const unknown = '00000000-0000-4000-8000-000000000000';
let DATA_DIR: string;

beforeAll(async () => {
  DATA_DIR = await mkdtemp(join(tmpdir(), 'call-analysis-admin-'));
});
afterAll(async () => {
  await rm(DATA_DIR, { recursive: true, force: true });
});

const command = <Result>(...args: string[]) => admin<Result>({ DATA_DIR }, ...args);
const outcome = (...args: string[]) => runAdminHere(args, { DATA_DIR });

/** Starts a command and returns while its PostgreSQL server runs. Starts another one when the command was over before that. */
async function startWithDatabase(...args: string[]): Promise<StartedCommand> {
  for (;;) {
    const begun = startCommand('admin/main.ts', args, { DATA_DIR });
    const { child } = begun;
    const isRunning = await eventually(async () => {
      if ((await postgresOf(DATA_DIR)) !== null) return 'yes';
      return child.exitCode === null && child.signalCode === null ? null : 'no';
    }, 5);
    if (isRunning === 'yes') return begun;
    expect((await begun.outcome).code).toBe(0);
  }
}

/** Uses every command once and checks the shape of its output (docs/api.md, "Configuration and commands"). */
async function useEveryCommand(): Promise<void> {
  const name = '«Ўзбек» фирмаси 数据 🎧';
  const firm = await command<Firm>(
    'firm',
    'create',
    '--name',
    name,
    '--country',
    'uz',
    '--segment-type',
    'қўллаб-қувватлаш',
    '--segment-type',
    'sales',
  );
  expect(firm).toEqual({
    uuid: expect.stringMatching(uuid),
    name,
    country: 'UZ',
    segment_types: ['қўллаб-қувватлаш', 'sales'],
  });
  // A command spends most of its time starting, so two run at the same time.
  const [firms, user] = await Promise.all([
    command<Firm[]>('firm', 'list'),
    command<User>('user', 'create', '--firm', firm.uuid, '--name', 'Айгүл', '--role', 'WORKFLOW_ENGINEER'),
  ]);
  expect(firms).toContainEqual(firm);
  expect(user).toEqual({
    uuid: expect.stringMatching(uuid),
    firm_uuid: firm.uuid,
    name: 'Айгүл',
    role: 'WORKFLOW_ENGINEER',
  });
  const ofOperator = ['--role', 'OPERATOR', '--operator-id', '17', '--operator-id', 'a-2'];
  const addOperator = () => command<User>('user', 'create', '--firm', firm.uuid, '--name', 'Ann', ...ofOperator);
  const addBilling = () => command('segment-type', 'add', '--firm', firm.uuid, '--name', 'billing');
  const added = { firm_uuid: firm.uuid, segment_types: [...firm.segment_types, 'billing'] };
  expect(await Promise.all([addBilling(), command('user', 'list', '--firm', firm.uuid)])).toEqual([added, [user]]);
  const asked = Date.now();
  const [again, operator, issued] = await Promise.all([
    addBilling(),
    addOperator(),
    command<{ token: string; expires_at: string }>('token', 'issue', '--user', user.uuid, '--ttl', '90m'),
  ]);
  expect(again).toEqual(added);
  expect(operator).toMatchObject({ role: 'OPERATOR', operator_ids: ['17', 'a-2'] });
  expect(issued).toEqual({
    token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    user: { uuid: user.uuid, firm_uuid: firm.uuid, role: 'WORKFLOW_ENGINEER' },
  });
  // The token has whole seconds.
  const issuedAt = Date.parse(issued.expires_at) - 90 * 60_000;
  expect(issuedAt).toBeGreaterThan(asked - 1_000);
  expect(issuedAt).toBeLessThan(Date.now() + 1_000);
  const [entries, newest] = await Promise.all([
    command<{ action: string }[]>('audit', 'list', '--firm', firm.uuid),
    command('audit', 'list', '--limit', '1'),
  ]);
  expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(['firm.created', 'user.created']));
  for (const entry of entries)
    expect(Object.keys(entry).sort()).toEqual(['action', 'actor', 'address', 'at', 'request_id', 'subject']);
  expect(newest).toHaveLength(1);
}

/** Unknown and invalid values are reported in one sentence, with exit code 1. */
async function expectSentences(firm: string): Promise<void> {
  const attempts: [string[], RegExp][] = [
    [['user', 'create', '--firm', unknown, '--name', 'N', '--role', 'ADMIN'], /firm/],
    [['user', 'list', '--firm', unknown], /firm/],
    [['user', 'list', '--firm', 'acme'], /firm|uuid/],
    [['segment-type', 'add', '--firm', unknown, '--name', 'sales'], /firm/],
    [['token', 'issue', '--user', unknown], /There is no user/],
    [['token', 'issue', '--user', 'ann'], /user/],
    [['user', 'remove', '--user', unknown], /^There is no such user\. Check the uuid\.$/m],
    [['user', 'remove', '--user', 'ann'], /user_uuid: must be a UUID/],
    [['audit', 'list', '--firm', unknown], /^There is no such firm\. Check the uuid\.$/m],
    [['firm', 'create', '--name', 'N', '--country', 'Uzbekistan'], /country/],
    [['firm', 'create', '--name', ' ', '--country', 'UZ'], /name/],
    [['firm', 'create', '--name', 'N', '--country', 'UZ', '--uuid', firm], /uuid|firm/i],
    [['firm', 'create', '--name', 'N', '--country', 'UZ', '--uuid', 'mine'], /uuid/],
  ];
  await Promise.all(
    attempts.map(async ([args, sentence]) => {
      const { code, stdout, stderr } = await outcome(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(sentence);
      expect(stderr).not.toMatch(/Unexpected|\bat .*:\d+/);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }),
  );
}

describe('the admin command', () => {
  // Each command starts PostgreSQL. That each of them works, the tests with a service show.
  it('works while the service does not run, and leaves no PostgreSQL running', async () => {
    const firm = await command<Firm>('firm', 'create', '--name', 'alone', '--country', 'UZ');
    const user = await command<User>('user', 'create', '--firm', firm.uuid, '--name', 'Ann', '--role', 'ADMIN');
    const [users, issued] = await Promise.all([
      command<User[]>('user', 'list', '--firm', firm.uuid),
      command<{ user: object }>('token', 'issue', '--user', user.uuid),
    ]);
    expect(users).toEqual([user]);
    expect(issued.user).toEqual({ uuid: user.uuid, firm_uuid: firm.uuid, role: 'ADMIN' });
    expect(await postgresOf(DATA_DIR)).toBeNull();
  });

  it('runs several times at once without the service: each waits for the others and all succeed', async () => {
    const names = ['one', 'two', 'three'];
    const created = await Promise.all(
      names.map((name) => run('admin/main.ts', ['firm', 'create', '--name', name, '--country', 'KG'], { DATA_DIR })),
    );
    expect(created.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']));
    // One JSON value.
    expect(created.map(({ stdout }) => (JSON.parse(stdout) as Firm).name)).toEqual(names);
    const firms = (await command<Firm[]>('firm', 'list')).map(({ name }) => name);
    expect(firms).toEqual(expect.arrayContaining(names));
    expect(await postgresOf(DATA_DIR)).toBeNull();
  });

  it('does not block a start: the service waits for a running command', async () => {
    const creating = await startWithDatabase('firm', 'create', '--name', 'in the way', '--country', 'KG');
    const service = await startService(DATA_DIR);
    const created = await creating.outcome;
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(await command<Firm[]>('firm', 'list')).toContainEqual(JSON.parse(created.stdout));
    expect((await fetchWhenAvailable(`${service.url}/readyz`)).status).toBe(200);
    await service.stop({ keep: true });
  });

  // The next two tests are about one service.
  let service: ServiceProcess;

  it('waits for a service that is starting', async () => {
    const starting = startService(DATA_DIR);
    await eventually(() => postgresOf(DATA_DIR), 5);
    expect((await command<Firm[]>('firm', 'list')).length).toBeGreaterThan(0);
    service = await starting;
  });

  it('works while the service runs, which accepts a new token immediately, and reports invalid values in one sentence', async () => {
    await useEveryCommand();
    const [firm] = await command<Firm[]>('firm', 'list');
    const user = await command<User>('user', 'create', '--firm', firm!.uuid, '--name', 'Ann', '--role', 'ADMIN');
    const { token } = await command<{ token: string }>('token', 'issue', '--user', user.uuid);
    const answer = await fetchWhenAvailable(`${service.url}/api/v1/calls`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    const removed = await command<User & { removed_at: string }>('user', 'remove', '--user', user.uuid);
    expect(removed).toEqual({ ...user, removed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) });
    expect(await command('user', 'list', '--firm', firm!.uuid)).not.toContainEqual(user);
    const [newest] = await command<{ action: string; subject: string }[]>(
      'audit',
      'list',
      '--firm',
      firm!.uuid,
      '--limit',
      '1',
    );
    expect(newest).toMatchObject({ action: 'user.removed', subject: user.uuid });
    const again = await outcome('user', 'remove', '--user', user.uuid);
    expect([again.code, again.stdout, again.stderr]).toEqual([1, '', 'There is no such user. Check the uuid.\n']);
    // The gateway caches a user for some seconds.
    await eventually(async () => {
      const after = await fetchWhenAvailable(`${service.url}/api/v1/calls`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return after.status === 401;
    });
    await expectSentences(firm!.uuid);
    await service.stop({ keep: true });
  });

  it('leaves no PostgreSQL running when it is interrupted', async () => {
    const { child, outcome: ended } = await startWithDatabase('firm', 'list');
    child.kill('SIGINT');
    await ended;
    expect(await postgresOf(DATA_DIR)).toBeNull();
  });

  it.each([
    [1, ['user', 'list', '--firm', 'acme'], /^[^\n]+\n$/],
    [2, ['nonsense'], /^error: /],
  ] as const)('ends as a process with %i and one sentence: %j', async (expected, args, error) => {
    const { code, stdout, stderr } = await run('admin/main.ts', args, { DATA_DIR });
    expect(code).toBe(expected);
    expect(stdout).toBe('');
    expect(stderr).toMatch(error);
  });

  it('exits with 2 and prints its usage when it is used wrongly', async () => {
    const wrong = [
      [],
      ['nonsense'],
      ['firm'],
      ['firm', 'remove'],
      ['firm', 'create', '--name', 'N'],
      ['firm', 'create', '--name', 'N', '--country', 'UZ', '--colour', 'red'],
      ['firm', 'create', '--name', 'N', '--country', 'UZ', '--language', 'tlh'],
      ['firm', 'update', '--firm', unknown, '--language', 'tlh'],
      ['user', 'create', '--firm', unknown, '--name', 'N', '--role', 'KING'],
      ['token', 'issue', '--user', unknown, '--ttl', 'soon'],
      ['user', 'remove'],
      ['audit', 'list', '--limit', '0'],
      ['firm', 'list', 'surplus'],
    ];
    await Promise.all(
      wrong.map(async (args) => {
        const { code, stdout, stderr } = await outcome(...args);
        expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
        expect(stderr).toMatch(/error: |Usage: npm run -s admin --/);
      }),
    );
  });

  it('refuses too long a lifetime for a token, and names the longest', async () => {
    const { code, stdout, stderr } = await outcome('token', 'issue', '--user', unknown, '--ttl', '99999999d');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/'99999999d' is invalid\. The longest is 30d\./);
  });

  it('prints its version as a JSON string', async () => {
    const { code, stdout, stderr } = await outcome('--version');
    expect([code, JSON.parse(stdout), stderr]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/), '']);
  });

  it('prints its usage with --help', async () => {
    await Promise.all(
      [['--help'], ['firm', 'create', '--help'], ['token', '--help']].map(async (args) => {
        const { code, stdout, stderr } = await outcome(...args);
        expect([code, stderr]).toEqual([0, '']);
        expect(stdout).toContain('Usage: npm run -s admin -- ');
      }),
    );
  });
});
