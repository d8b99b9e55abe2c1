import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openCollector } from '../../testing/collector.ts';
import { waitUntil } from '../../testing/wait-until.ts';
import { exportSpans, isTracing, recordSpan, type Span } from './spans.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const span: Span = {
  service: 'ingest',
  name: 'ingest.catalogue call.analyzed.v1',
  kind: 'consumer',
  traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  parent: `00-${TRACE}-53995c3f42cd8ad8-01`,
  beganAt: 1_800_000_000_123,
  ms: 4.5,
  attributes: { 'messaging.message.id': 'e-1', together: 3 },
};

let collector: Awaited<ReturnType<typeof openCollector>>;
const complaints: object[] = [];
const log = { warn: (fields: object) => void complaints.push(fields) };

beforeEach(async () => {
  collector = await openCollector();
  complaints.length = 0;
});
afterEach(() => collector.close());

describe('spans', () => {
  it('are only recorded while there is an exporter', async () => {
    expect(isTracing()).toBe(false);
    const exporting = await exportSpans({ endpoint: collector.url }, log);
    expect(isTracing()).toBe(true);
    await exporting.close();
    expect(isTracing()).toBe(false);
  });

  it('reach the collector complete, under their service, with the configured headers', async () => {
    const exporting = await exportSpans({ endpoint: `${collector.url}/`, headers: { 'x-key': 'k 1' } }, log);
    recordSpan(span);
    recordSpan({ ...span, service: 'gateway', kind: 'server', parent: undefined, failure: '500' });
    await exporting.close();
    // Closing waits for two seconds only, and what is on its way then still arrives.
    await waitUntil(() => collector.spans.length === 2);
    expect(collector.requests[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-key': 'k 1' } });
    expect(collector.spans.find(({ service }) => service === 'ingest')).toMatchObject({
      traceId: TRACE,
      spanId: '00f067aa0ba902b7',
      parentSpanId: '53995c3f42cd8ad8',
      name: span.name,
      startTimeUnixNano: '1800000000123000000',
      endTimeUnixNano: '1800000000127500000',
      status: { code: 1 },
      attributes: { 'messaging.message.id': 'e-1', together: 3 },
    });
    const root = collector.spans.find(({ service }) => service === 'gateway');
    expect(root?.parentSpanId).toBeUndefined();
    expect(root?.status).toEqual({ code: 2, message: '500' });
    expect(collector.spans.map(({ kind }) => kind).toSorted()).toEqual([2, 5]);
  });

  it('of traces that are not sampled are not exported', async () => {
    const exporting = await exportSpans({ endpoint: collector.url }, log);
    recordSpan({ ...span, traceparent: `00-${TRACE}-00f067aa0ba902b7-00` });
    await exporting.close();
    expect(collector.spans).toEqual([]);
  });

  it('are dropped with one line in the log when the collector is unavailable', async () => {
    const exporting = await exportSpans({ endpoint: 'http://127.0.0.1:9', delayMs: 10, timeoutMs: 500 }, log);
    for (let i = 0; i < 20_000; i++) recordSpan(span);
    await waitUntil(() => complaints.length > 0);
    await exporting.close();
    expect(complaints).toHaveLength(1);
  });

  it('do not delay closing when the collector does not answer', async () => {
    let isSilent = true;
    const held: ServerResponse[] = [];
    const refuse = (response: ServerResponse) => void response.writeHead(400).end();
    const silent = createServer((_request, response) => (isSilent ? void held.push(response) : refuse(response)));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const exporting = await exportSpans({ endpoint, delayMs: 10, timeoutMs: 60_000 }, log);
    recordSpan(span);
    await waitUntil(() => held.length === 1);
    await exporting.close();
    // They have neither been answered nor given up.
    expect(complaints).toEqual([]);
    isSilent = false;
    held.forEach(refuse);
    await waitUntil(() => complaints.length === 1);
    silent.close();
    silent.closeAllConnections();
  });
});
