import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModelServer, openProxy } from '../test/model-server.ts';
import { download, type DownloadOptions, type Remote } from './download.ts';

const bytes = randomBytes(300_000);
let server: ModelServer;
let directory: string;
let file: string;
beforeEach(async () => {
  server = await new ModelServer().open();
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-download-'));
  file = join(directory, 'model');
});
afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

const fetchFile = (remote: Remote, options: Partial<DownloadOptions> = {}) =>
  download(remote, file, { environment: {}, pausesMs: [1, 1], ...options });

describe('a download', () => {
  it('arrives completely, through a redirect, and reports its progress', async () => {
    const { sha256 } = server.add('/model', bytes);
    const progress: [number, number | null][] = [];
    await fetchFile(
      { url: `${server.url}/moved/model`, sha256, bytes: bytes.length },
      { onProgress: (now, total) => progress.push([now, total]) },
    );
    expect((await readFile(file)).equals(bytes)).toBe(true);
    expect(progress.at(-1)).toEqual([bytes.length, bytes.length]);
    expect(await readdir(directory)).toEqual(['model']);
  });

  it('continues where the connection broke, however often it breaks', async () => {
    const remote = server.add('/model', bytes, { breaksAfter: [100_000, 50_000, 50_000, 50_000] });
    await fetchFile(remote);
    expect((await readFile(file)).equals(bytes)).toBe(true);
    expect(server.requests[0]).toBe('/model');
    const ranges = server.requests.slice(1).map((each) => Number(/=(\d+)-$/.exec(each)?.[1]));
    expect(ranges).toHaveLength(4);
    expect(ranges).toEqual(ranges.toSorted((a, b) => a - b));
    expect(ranges[0]).toBeGreaterThan(0);
  });

  it('continues in a later run, with the bytes of the first', async () => {
    const remote = server.add('/model', bytes, { breaksAfter: [120_000] });
    const breaking = fetchFile(remote, { pausesMs: [] });
    await expect(breaking).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    await expect(breaking).rejects.toThrow('run the command again: it goes on where it stopped');
    await fetchFile(remote);
    expect((await readFile(file)).equals(bytes)).toBe(true);
    expect(server.requests.at(-1)).toMatch(/^\/model bytes=[1-9]/);
  });

  it('that was complete when the command ended needs nothing more', async () => {
    const remote = server.add('/model', bytes);
    await writeFile(`${file}.part`, bytes);
    await writeFile(`${file}.part.json`, JSON.stringify({ url: remote.url, validator: '"1"' }));
    await fetchFile(remote);
    expect((await readFile(file)).equals(bytes)).toBe(true);
  });

  it.each([
    ['the file has changed at its source', { etag: '"2"' }],
    ['the server knows no ranges', { ignoresRanges: true }],
    ['the server does not say whether the file has changed', { etag: null }],
  ])('begins again when %s', async (_, options) => {
    const old = Buffer.alloc(1000, 'x');
    const remote = server.add('/model', bytes, options);
    await writeFile(`${file}.part`, old);
    await writeFile(`${file}.part.json`, JSON.stringify({ url: remote.url, validator: '"1"' }));
    await fetchFile(remote);
    expect((await readFile(file)).equals(bytes)).toBe(true);
  });

  it('with another digest than the expected one is removed', async () => {
    const { url } = server.add('/model', bytes);
    const wrong = fetchFile({ url, sha256: 'a'.repeat(64) });
    await expect(wrong).rejects.toMatchObject({ code: 'DIGEST_WRONG' });
    await expect(wrong).rejects.toThrow(`where ${'a'.repeat(64)} was expected`);
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  it('of another size than the catalogue says is refused before it is stored', async () => {
    const { url } = server.add('/model', bytes);
    await expect(fetchFile({ url, bytes: 5 })).rejects.toThrow('it has 300000 bytes, where the catalogue says 5');
    expect(await readdir(directory)).toEqual([]);
  });

  it('is tried again when the server fails, and not when it refuses', async () => {
    await fetchFile(server.add('/model', bytes, { statuses: [503, 429] }));
    expect(server.requests).toHaveLength(3);
    await expect(fetchFile({ url: `${server.url}/nowhere?key=secret` })).rejects.toThrow(
      `${server.url}/nowhere cannot be downloaded: the server answered 404.`,
    );
    expect(server.requests).toHaveLength(4);
  });

  it('ends with one sentence when the disk is full', async () => {
    const remote = server.add('/model', bytes);
    await symlink('/dev/full', `${file}.part`);
    await expect(fetchFile(remote)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('Free space, or set SPEECH_MODEL_DIR'),
    });
  });

  it('uses the proxy of the environment, except for the hosts of NO_PROXY', async () => {
    const proxy = await openProxy();
    const remote = server.add('/model', bytes);
    await fetchFile(remote, { environment: { HTTP_PROXY: proxy.url } });
    expect(proxy.targets).toEqual([remote.url]);
    await fetchFile(remote, { environment: { http_proxy: proxy.url, NO_PROXY: '127.0.0.1' } });
    expect(proxy.targets).toHaveLength(1);
    await proxy.close();
    await expect(fetchFile(remote, { environment: { HTTP_PROXY: 'proxy' } })).rejects.toThrow(
      'HTTP_PROXY must be a URL',
    );
  });
});
