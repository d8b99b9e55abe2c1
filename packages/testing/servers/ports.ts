import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below what systems give to outgoing connections, so that none takes the port of a server that is down for a moment; a
// client that knocks there from the very port would even be connected to itself. And above what PostgreSQL is started on.
const [lowest, highest] = [30_000, 32_700];

/** A port of loopback that nobody listens on, and that nobody else is given while this process lives. */
export async function freePort(): Promise<number> {
  for (let attempts = 0; attempts < 200; attempts++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if ((await reserve(port)) && (await canListen(port))) return port;
  }
  throw new Error('This machine has no free port for a test server.');
}

/**
 * Whoever has the number in UDP, which no server here speaks, has it: for all processes of this machine, and the end of a
 * process gives it back.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const token = createSocket('udp4').unref();
    token.once('error', () => {
      token.close();
      resolve(false);
    });
    token.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
