import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { StartFault } from '@call-analysis/runtime';
import { type Server, ServerCredentials } from '@grpc/grpc-js';

/** Listens on `host:port` or `unix:/path` and says where that is, with the real port for port 0. */
export async function listen(server: Server, address: string): Promise<string> {
  const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
  if (path !== undefined) await removeStaleSocket(path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else if (error.message.includes('EADDRINUSE')) reject(new StartFault(`${address} is in use by another process.`));
      else reject(new StartFault(`Listening on ${address} failed: ${error.message}`, { cause: error }));
    });
  });
  return path === undefined ? address.replace(/:\d+$/, `:${port}`) : address;
}

/** A killed process leaves its socket behind. One that somebody still listens on stays, and binding to it fails. */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path);
  try {
    await once(probe, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') unlinkSync(path);
  } finally {
    probe.destroy();
  }
}
