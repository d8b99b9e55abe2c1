// A process of the benchmark of webhooks: prints its port, answers every POST with 204, and GET with the number of POSTs.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(received));
    return;
  }
  request.resume().on('end', () => {
    received += 1;
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
