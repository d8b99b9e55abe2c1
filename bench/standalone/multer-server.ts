// The yardstick of uploads: multer receives the same form and writes the file to a folder, with what an upload promises too:
// its SHA-256, and bytes that survive a power failure. Runs as a child process.
import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import express from 'express';
import multer, { type StorageEngine } from 'multer';

const directory = mkdtempSync(join(tmpdir(), 'call-analysis-multer-'));
let stored = 0;
const storage: StorageEngine = {
  _handleFile(_request, { stream }, done) {
    const hash = createHash('sha256');
    const path = join(directory, String(stored++));
    stream.on('data', (chunk: Buffer) => hash.update(chunk));
    pipeline(stream, createWriteStream(path, { flush: true }), (error) => {
      if (error) done(error);
      else done(null, { path, filename: hash.digest('hex') });
    });
  },
  _removeFile(_request, { path }, done) {
    rmSync(path, { force: true });
    done(null);
  },
};
const app = express().post('/', multer({ storage }).single('audio_file'), (request, response) => {
  response.json({ size: request.file?.size });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('disconnect', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit();
});
