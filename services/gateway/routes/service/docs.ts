import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint.ts';
import { securePage } from '../../http/response/headers.ts';
import { routeNotFound } from '../../http/response/http-error.ts';
import { type OpenApi, openApiDocument } from '../../openapi/document.ts';
import { ownEndpoint } from '../rpc-caller.ts';

/** Links are relative, so that they work under any path that a proxy serves the page under. */
const page = (directory: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Call Analysis Service</title>
    <link rel="icon" type="image/png" href="${directory}/favicon-32x32.png">
    <link rel="stylesheet" href="${directory}/swagger-ui.css">
    <script src="${directory}/swagger-ui-bundle.js" defer></script>
    <script src="${directory}/page.js" defer></script>
  </head>
  <body>
    <div id="page"></div>
  </body>
</html>
`;

// In a file of its own, because the page's policy allows no inline script. Credentials are kept until the page is closed.
const SCRIPT = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#page',
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Allows resources of this server only. Swagger UI sets inline styles and draws icons as data URLs. */
const POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

const ASSET_SECONDS = 3600;

const Asset = z.enum(['page.js', 'swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']);

const TYPES = { js: 'text/javascript', css: 'text/css', png: 'image/png' };

/** The documentation of the endpoints, for programs and for people (docs/api.md, "Operations endpoints"). */
export function docs(endpoints: readonly Endpoint[], base: string): Endpoint[] {
  let document: OpenApi | undefined;
  const own = [
    ownEndpoint({
      method: 'GET',
      path: '/openapi.json',
      id: 'getOpenApiDocument',
      summary: 'Get the OpenAPI document',
      responses: {
        200: {
          description: 'The OpenAPI 3.1 document.',
          schema: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' }),
        },
      },
      async handle() {
        document ??= openApiDocument([...endpoints, ...own], base);
        return { status: 200, body: document };
      },
    }),
    ownEndpoint({
      method: 'GET',
      path: '/docs',
      id: 'getDocumentationPage',
      summary: 'Read the documentation',
      responses: {
        200: { description: 'A page that shows the OpenAPI document and can send requests.', type: 'text/html' },
      },
      async handle({ request, response }) {
        const directory = /^[^?#]*\/(?:[?#]|$)/.test(request.url ?? '') ? '.' : 'docs';
        securePage(response, POLICY);
        const headers = { 'content-type': 'text/html; charset=utf-8' };
        return { status: 200, headers, body: Buffer.from(page(directory)) };
      },
    }),
    ownEndpoint({
      method: 'GET',
      path: '/docs/:asset',
      id: 'getDocumentationAsset',
      summary: 'Get an asset of the documentation page',
      params: { asset: Asset },
      responses: { 200: { description: 'The asset.', type: Object.values(TYPES) } },
      async handle({ params }) {
        const asset = Asset.safeParse(params['asset']);
        if (!asset.success) throw routeNotFound();
        const headers = {
          'content-type': TYPES[asset.data.slice(asset.data.lastIndexOf('.') + 1) as keyof typeof TYPES],
          'cache-control': `private, max-age=${ASSET_SECONDS}`,
        };
        return { status: 200, headers, body: await bytesOf(asset.data) };
      },
    }),
  ];
  return own;
}

function bytesOf(asset: z.infer<typeof Asset>): Promise<Buffer> | Buffer {
  if (asset === 'page.js') return Buffer.from(SCRIPT);
  return readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${asset}`)));
}
