import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { KINDS } from '../models/model.ts';

const CatalogueModel = z.strictObject({
  name: z.string().regex(/^[a-z0-9.-]+$/),
  description: z.string(),
  kind: z.enum(KINDS),
  /** ISO 639-1 codes; empty for a multilingual model that detects the language. */
  languages: z.array(z.string().regex(/^[a-z]{2}$/)),
  licence: z.string(),
  /** The page that describes the model. */
  source: z.url({ protocol: /^https$/ }),
  files: z.array(
    z.strictObject({
      name: z.string().regex(/^[\w.-]+$/),
      url: z.url({ protocol: /^https?$/ }),
      bytes: z.int().positive().optional(),
      /** As its publisher or several independent users of the file state it; absent where it is not known. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    }),
  ),
});
export type CatalogueModel = z.infer<typeof CatalogueModel>;

const CATALOGUE = new URL('./catalogue.json', import.meta.url);

/** The recommended models, the best for the most languages first. */
export function readCatalogue(file: URL | string = CATALOGUE): CatalogueModel[] {
  return z.array(CatalogueModel).parse(JSON.parse(readFileSync(file, 'utf8')));
}

export function bytesOf({ files }: CatalogueModel): number {
  return files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}
