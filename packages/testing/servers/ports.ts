import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the ephemeral ports of outgoing connections, so that none takes the port of a server that is down for a moment: a
// client that connects from the same port would even be connected to itself. Above the ports of the embedded PostgreSQL.
const [lowest, highest] = [30_000, 32_700];

/** A free loopback port. No other caller on this machine gets it while this process runs. */
export async function freePort(): Promise<number> {
  for (let attempts = 0; attempts < 200; attempts++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if ((await reserve(port)) && (await canListen(port))) return port;
  }
  throw new Error('This machine has no free port for a test server.');
}

/**
 * The UDP socket with the number reserves it for all processes of this machine, because no server here uses UDP. The end
 * of the process releases it.
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
