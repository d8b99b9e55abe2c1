import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { retryUntilAnswered } from '../test/client/retry.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

const CALLS = 20_000;
const OPERATORS = 120;
/** A call has the time of its event, and is completed when that is consumed. */
const CONSUMED_MS = 5_000;
const SEGMENTS = ['support', 'sales', 'billing', 'delivery'];
const SORTS = ['created_at', '-created_at', 'start_time', '-start_time', 'score', '-score'];

/** `since`: a call matches from its acceptance on, from its completion on, or until its completion. */
interface Filter {
  readonly query: string;
  readonly since: 'acceptance' | 'completion' | 'queued';
}

const FILTERS: readonly Filter[] = [
  { query: 'operator_name=operator 7', since: 'acceptance' },
  { query: 'operator_id=id-8', since: 'acceptance' },
  { query: 'operator_group_name=Team 3&segment_type=sales&duration_max=100', since: 'acceptance' },
  { query: 'segment_type=billing&segment_type=delivery&operator_name=Operator 11', since: 'acceptance' },
  { query: 'direction=outbound&operator_name=Operator 12', since: 'acceptance' },
  { query: 'client_phone_number=%2B998901000042', since: 'acceptance' },
  { query: 'source=transcription&operator_id=id-13', since: 'acceptance' },
  {
    query: 'started_from=2026-03-03T00:00:00Z&started_to=2026-03-04T00:00:00Z&operator_group_name=Team 2',
    since: 'acceptance',
  },
  { query: 'duration_min=100&duration_max=104&direction=inbound', since: 'acceptance' },
  { query: 'reviewed=false&operator_name=Operator 14', since: 'acceptance' },
  { query: 'partner_call_id=call-20', since: 'acceptance' },
  { query: 'status=queued&operator_name=Operator 21', since: 'queued' },
  { query: 'status=completed&operator_name=Operator 22', since: 'completion' },
  { query: 'outcome=scored&operator_id=id-23', since: 'completion' },
  { query: 'score_min=10&operator_name=Operator 24', since: 'completion' },
  { query: 'needs_review=false&status=completed&operator_name=Operator 25', since: 'completion' },
  { query: 'auto_failed=false&status=completed&operator_name=Operator 26', since: 'completion' },
  { query: 'language=en&operator_name=Operator 27', since: 'completion' },
];

interface Item {
  readonly uuid: string;
  readonly start_time: string;
  readonly score: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

interface Listed {
  readonly filter: Filter;
  readonly sort: string;
  readonly uuids: ReadonlySet<string>;
  readonly count: number;
  readonly began: number;
  readonly ended: number;
}

function csv(): string {
  const text =
    '"<operator>Good morning, this is Ann, how can I help you?<client>My parcel is late.<operator>It is solved now."';
  const lines = [
    'client_phone_number,operator_name,operator_id,operator_group_name,direction,duration,anonymized_text,start_time,segment_type,partner_call_id',
  ];
  for (let n = 0; n < CALLS; n++) {
    const day = String(1 + (n % 28)).padStart(2, '0');
    const operator = n % OPERATORS;
    lines.push(
      `+9989010${String(n % 5_000).padStart(5, '0')},Operator ${operator},id-${operator},Team ${n % 24},${n % 3 === 0 ? 'outbound' : 'inbound'},${60 + ((n * 7) % 600)},${text},2026-03-${day}T09:00:${String(n % 60).padStart(2, '0')}Z,${SEGMENTS[(n % 7) % 4]!},call-${n}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

describe('lists while tens of thousands of calls are processed', () => {
  let service: SystemUnderTest;
  let client: Client;

  beforeAll(async () => {
    service = await startSystemUnderTest();
    client = await newFirm(service, { segmentTypes: SEGMENTS });
  });
  afterAll(() => service.stop());

  async function walk(filter: Filter, sort: string): Promise<Listed & { items: Item[] }> {
    const began = Date.now();
    const items: Item[] = [];
    let count: number | undefined;
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = `size=100&sort=${sort}&${filter.query.replaceAll(' ', '%20')}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = await retryUntilAnswered(() =>
        client.request<{ items: Item[]; count: number; next_cursor: string | null }>('GET', `/api/v1/calls?${query}`),
      );
      expect(page.status).toBe(200);
      items.push(...page.body.items);
      count ??= page.body.count;
      cursor = page.body.next_cursor;
    }
    const uuids = new Set(items.map(({ uuid }) => uuid));
    return { filter, sort, items, uuids, count: count!, began, ended: Date.now() };
  }

  it('lack nothing that was accepted or completed before, by any filter and any sort, across a kill', async () => {
    const key = await client.upload(csv());
    const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const accepted = Date.now();
    const isFinished = async () =>
      (await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`)).finished_at !== null;
    const seen: Listed[] = [];
    const all = FILTERS.flatMap((filter) => SORTS.map((sort) => ({ filter, sort })));
    for (let number = 0; !(await isFinished()); number++) {
      // Filters and sorts change places from one to the next, so that a short run asks for all filters too.
      const { filter, sort } = all[(number * 7) % all.length]!;
      seen.push(await walk(filter, sort));
      if (number === 10) {
        await service.kill();
        await service.revive();
      }
    }
    const truths = new Map<Filter, Item[]>();
    for (const filter of FILTERS) {
      const wanted =
        filter.since === 'queued' ? { ...filter, query: filter.query.replace('queued', 'completed') } : filter;
      truths.set(filter, (await walk(wanted, 'created_at')).items);
    }

    expect(FILTERS.filter((filter) => truths.get(filter)!.length === 0)).toEqual([]);

    const lacking: string[] = [];
    const wrongCounts: string[] = [];
    for (const { filter, sort, uuids, count, began, ended } of seen) {
      const calls = truths.get(filter)!;
      const changed = ({ updated_at }: Item) => Date.parse(updated_at);
      const since = began - CONSUMED_MS;
      const isDue = (call: Item) => {
        // A client that follows a cursor by score may miss a call whose score changes in the meantime.
        if (sort.endsWith('score') && changed(call) > since && changed(call) <= ended) return false;
        if (filter.since === 'queued') return changed(call) > ended;
        return filter.since === 'acceptance' || changed(call) < since;
      };
      const due = calls.filter(isDue);
      const missing = due.filter(({ uuid }) => !uuids.has(uuid));
      const at = `${filter.query} by ${sort} at ${((began - accepted) / 1000).toFixed(1)} s`;
      if (missing.length > 0) lacking.push(`${at} lacks ${missing.length} of ${due.length}`);
      const possible = calls.filter((call) =>
        filter.since === 'queued' ? changed(call) > since : filter.since === 'acceptance' || changed(call) < ended,
      );
      const surely = filter.since === 'acceptance' ? calls : due;
      if (count < surely.length || count > possible.length)
        wrongCounts.push(`${at} counts ${count}, there are ${surely.length} to ${possible.length}`);
    }
    console.info(`${seen.length} lists during ${((seen.at(-1)?.ended ?? 0) - accepted) / 1000} s`);
    expect({ lacking, wrongCounts }).toEqual({ lacking: [], wrongCounts: [] });
    expect(seen.length).toBeGreaterThan(10);
  }, 600_000);
});
