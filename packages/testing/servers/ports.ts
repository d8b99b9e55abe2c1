import { createServer } from 'node:net';

// Below what systems give to outgoing connections, so that none takes the port of a server that is down for a moment; a
// client that knocks there from the very port would even be connected to itself.
const [lowest, highest] = [20_000, 32_000];

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let attempts = 0; attempts < 100; attempts++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await canListen(port)) return port;
  }
  throw new Error('This machine has no free port for a test server.');
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
