// The yardstick of uploads: multer receives the same form and only writes the file to a folder. Runs as a child process.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import multer from 'multer';

const directory = mkdtempSync(join(tmpdir(), 'call-analysis-multer-'));
const app = express();
app.post(
  '/',
  multer({ storage: multer.diskStorage({ destination: directory }) }).single('audio_file'),
  (request, response) => {
    response.json({ size: request.file?.size });
  },
);
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('disconnect', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit();
});
