import { Language, type ScorecardDraft } from '@call-analysis/events';
import { Fault, type FieldFault, kindName, nameFault, nearestName } from '@call-analysis/fault';
import type { z } from 'zod';
import { draftSchema, sizeFault } from './scorecard.ts';

const MAX_FAULTS = 100;
/** Names of fields in a document are unbounded; they are cut to this length in a fault. */
const MAX_NAME_LENGTH = 100;

/** The values that a document may refer to. */
export interface References {
  /** The segment types of the firm. Null for a revision, which keeps the segment type of its scorecard. */
  readonly segmentTypes: ReadonlySet<string> | null;
  /** The segment type of the scorecard that is revised. */
  readonly segmentType: string | null;
  /** The questions of the revision that is changed. */
  readonly questionUuids: ReadonlySet<string>;
}

/**
 * Parses the JSON document of a firm's scorecard. Fault: VALIDATION_ERROR, which names every invalid field by its path,
 * such as `sections.0.name`: fields of the wrong form and fields with unknown references.
 */
export function validateScorecardDraft(document: string, references: References): ScorecardDraft {
  const value: unknown = JSON.parse(document);
  const parsed = draftSchema.safeParse(value, { error: requirementMessage, reportInput: true });
  const faults = parsed.success ? [] : parsed.error.issues.flatMap(fieldFaults);
  faults.push(...nameFaults(value, new Set(faults.map(({ field }) => field))));
  faults.push(...unknownReferences(value, references));
  if (parsed.success) {
    const message = sizeFault(parsed.data);
    if (message !== null) faults.push({ field: 'sections', code: 'INVALID', message });
  }
  if (faults.length > 0) throw validationError(faults);
  return parsed.data!;
}

function validationError(faults: readonly FieldFault[]): Fault {
  const fields = faults.slice(0, MAX_FAULTS);
  const isTruncated = fields.length < faults.length;
  const summary = fields.map(({ field, message }) => `${field}: ${message}`);
  if (isTruncated) summary.push(`and ${faults.length - fields.length} more`);
  return new Fault('invalid', 'VALIDATION_ERROR', summary.join('; '), {
    details: { fields, ...(isTruncated && { fields_truncated: true }) },
  });
}

/** Examines the unparsed document, so that fields of the wrong form do not hide unknown references. */
function unknownReferences(document: unknown, references: References): FieldFault[] {
  const faults: FieldFault[] = [];
  const segmentType = property(document, 'segment_type');
  if (references.segmentTypes === null) {
    if (segmentType !== undefined && segmentType !== references.segmentType) {
      const message = `cannot be changed from ${references.segmentType ?? 'null'}; create another scorecard instead`;
      faults.push({ field: 'segment_type', code: 'INVALID', message });
    }
  } else if (typeof segmentType === 'string' && !references.segmentTypes.has(segmentType.trim())) {
    const known = [...references.segmentTypes];
    const message = `must be null or a segment type of your firm: ${known.join(', ')}`;
    faults.push({ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE', message });
  }
  listOf(property(document, 'sections')).forEach((section, sectionIndex) => {
    listOf(property(section, 'questions')).forEach((question, index) => {
      const uuid = property(question, 'uuid');
      if (typeof uuid !== 'string' || references.questionUuids.has(uuid.toLowerCase())) return;
      const message = 'is not a question of the revision that you are changing; omit the uuid of a new question';
      faults.push({ field: `sections.${sectionIndex}.questions.${index}.uuid`, code: 'UNKNOWN_QUESTION', message });
    });
  });
  return faults;
}

/** Scorecards that are stored may have such names, so the schema, with which they are read too, accepts them. */
function nameFaults(document: unknown, alreadyWrong: ReadonlySet<string>): FieldFault[] {
  const names: [field: string, value: unknown][] = [['name', property(document, 'name')]];
  listOf(property(document, 'sections')).forEach((section, index) => {
    names.push([`sections.${index}.name`, property(section, 'name')]);
  });
  return names.flatMap(([field, value]) => {
    const message = typeof value === 'string' && !alreadyWrong.has(field) ? nameFault(value.trim()) : null;
    return message === null ? [] : [{ field, code: 'INVALID', message }];
  });
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Replies contain these fields, but documents must omit them. */
const SET_BY_SERVICE = ['uuid', 'is_active', 'revision', 'created_at', 'updated_at'];

function fieldFaults(issue: z.core.$ZodIssue): FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    // `requirementMessage` wrote one line for each key.
    const messages = issue.message.split('\n');
    return issue.keys.map((name, index) => ({
      field: [...issue.path, name.slice(0, MAX_NAME_LENGTH)].join('.'),
      code: 'UNKNOWN_FIELD',
      message:
        issue.path.length === 0 && SET_BY_SERVICE.includes(name)
          ? 'is set by the service; omit it'
          : (messages[index] ?? 'is not known'),
    }));
  }
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  // An empty text, or one of blanks alone.
  const isEmpty = issue.code === 'too_small' && issue.origin === 'string';
  const field = issue.path.map((part) => String(part).slice(0, MAX_NAME_LENGTH)).join('.');
  return [{ field, code: isMissing || isEmpty ? 'REQUIRED' : 'INVALID', message: issue.message }];
}

/** The requirement on a value whose schema has no message. The sentence begins with the field's name. */
function requirementMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${kindName(issue.expected)}${issue.input === null ? ', not null' : ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return 'must be one of rule, model';
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      if (issue.origin === 'array') return `must have at least ${issue.minimum}`;
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array' ? `must have at most ${issue.maximum}` : `must be at most ${issue.maximum}`;
    case 'unrecognized_keys': {
      const known = fieldsOf(issue.inst);
      if (known === null) {
        return issue.keys.map(() => `is not a supported language: ${Language.options.join(', ')}`).join('\n');
      }
      return issue.keys
        .map((name) => {
          const nearest = nearestName(name, known);
          return nearest === undefined ? 'is not known' : `is not known; did you mean ${nearest}?`;
        })
        .join('\n');
    }
    default:
      return 'is not valid';
  }
}

/** The fields of the schema that refused a value; null when the schema is a record by language. */
function fieldsOf(schema: unknown): string[] | null {
  const shape = property(property(property(schema, '_zod'), 'def'), 'shape');
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : null;
}
