import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { counter } from '../telemetry/metrics.ts';
import { type HealthServer, serveHealth } from './health-server.ts';
import { Readiness } from './readiness.ts';

let server: HealthServer;
afterEach(() => server.close());

const address = { host: '127.0.0.1', port: 0 };

async function ask(path: string, method = 'GET') {
  const response = await fetch(server.url + path, { method });
  const text = await response.text();
  return { status: response.status, text, type: response.headers.get('content-type') };
}

describe('the health server', () => {
  it('reports that the process is alive and starting, before the service has started', async () => {
    server = await serveHealth(address);
    expect(await ask('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}', type: 'application/json' });
    expect(await ask('/readyz')).toMatchObject({ status: 503, text: '{"status":"starting"}' });
  });

  it('reports ready, degraded, or the missing parts', async () => {
    const broken = new Set<string>();
    const part = (name: string, vital: boolean) => ({
      name,
      vital,
      check: async () => {
        if (broken.has(name)) throw new Error('away');
      },
    });
    server = await serveHealth(address);
    server.started(new Readiness([part('database', true), part('kafka', false)], { rememberMs: 0 }));
    expect(await ask('/readyz')).toMatchObject({ status: 200, text: '{"status":"ready"}' });
    broken.add('kafka');
    expect(await ask('/readyz?verbose')).toMatchObject({
      status: 200,
      text: '{"status":"ready","degraded":["kafka"]}',
    });
    broken.add('database');
    expect(await ask('/readyz')).toMatchObject({ status: 503, text: '{"status":"unavailable","parts":["database"]}' });
  });

  it('reports that the service is stopping even while a part is being checked', async () => {
    const readiness = new Readiness([{ name: 'database', vital: true, check: async () => readiness.drain() }]);
    server = await serveHealth(address);
    server.started(readiness);
    expect(await ask('/readyz')).toMatchObject({ status: 503, text: '{"status":"stopping"}' });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('reports that the process serves until it begins to stop, even if parts are missing', async () => {
    const away = { name: 'database', vital: true, check: () => Promise.reject(new Error('away')) };
    const readiness = new Readiness([away], { rememberMs: 0 });
    server = await serveHealth(address);
    expect(await ask('/serving')).toMatchObject({ status: 503, text: '{"status":"starting"}' });
    server.started(readiness);
    expect(await ask('/serving')).toMatchObject({ status: 200, text: '{"status":"serving"}' });
    expect((await ask('/readyz')).status).toBe(503);
    readiness.drain();
    expect(await ask('/serving')).toMatchObject({ status: 503, text: '{"status":"stopping"}' });
  });

  it('serves the metrics page and no other paths', async () => {
    counter('health_server_test_total', 'For this test.', []).of().add();
    server = await serveHealth(address);
    const metrics = await ask('/metrics');
    expect(metrics).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    expect(metrics.text).toContain('call_analysis_health_server_test_total 1');
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/healthz', 'POST')).status).toBe(405);
    expect(await ask('/healthz', 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it('reports in one sentence that its port is in use', async () => {
    server = await serveHealth(address);
    const port = Number(new URL(server.url).port);
    await expect(serveHealth({ host: '127.0.0.1', port })).rejects.toMatchObject({
      name: 'StartFault',
      message: `Port ${port} is in use. Stop the process that uses it, or set HEALTH_PORT to another port.`,
    });
    await expect(serveHealth({ host: '192.0.2.1', port: 0 })).rejects.toThrow('Set HEALTH_HOST and HEALTH_PORT');
  });

  it('closes although a client holds a connection open, without waiting for its timeout', async () => {
    server = await serveHealth(address);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
      socket.write('GET /healthz HTTP/1.1\r\n'),
    );
    socket.on('error', () => {});
    let told = '';
    socket.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const closed = once(socket, 'close');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.close();
    await closed;
    // A client that has been silent for too long gets 408.
    expect(told).toBe('');
  });
});
