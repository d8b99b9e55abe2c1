export { type CatalogueModel, readCatalogue } from './catalogue.ts';
export { InstalledModels } from './installed-models.ts';
export { KINDS } from '../models/model.ts';
