export { bytesOf, type CatalogueModel, readCatalogue } from './catalogue.ts';
export type { HeardSample } from './hear-samples.ts';
export { type AddOptions, type InstalledModel, InstalledModels } from './installed-models.ts';
export { KINDS } from '../model.ts';
