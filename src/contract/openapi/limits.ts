/** JSON schema (draft 2020-12), with the keywords that this program uses. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
}

const int32 = 2_147_483_647

/** Maximum length of texts without a limit in the contract, by the last name of their path. */
const characters: Readonly<Record<string, number>> = {
  externalId: 255,
  email: 254,
  userEmail: 254,
  userExternalId: 255,
  courseExternalId: 255,
  username: 100,
  courseTitle: 255,
  clientName: 255,
  firstName: 255,
  lastName: 255,
  start_date: 64,
  end_date: 64,
  course_id: 512,
  learner_id: 512,
  nextCursor: 2048,
  until: 2048,
  label: 255,
  itemTitle: 255,
  period: 10,
  timeZone: 64,
  modifiedAttributes: 100,
  pointer: 8192,
  code: 64,
  detail: 10_000,
  source: 64,
  prefix: 8,
  last4: 4,
  key: 100,
  clientSecret: 100,
  recordedBy: 64,
  secret: 100,
  type: 64,
  subject: 64,
  result: 1024,
  lastResult: 1024,
  response: 1024,
  body: 20_000,
  recordedByEmail: 254,
  version: 64,
  subjectName: 1024,
  credential: 64,
  address: 64,
  userAgent: 512,
  originSalt: 24,
  detailsSalt: 24,
  lmsKind: 32,
  event: 255,
  events: 64,
  reason: 64,
  deliveryKey: 512,
  webhookPath: 64,
  name: 255,
  user_id: 512,
  group_id: 512,
  term_id: 512,
  groupName: 255,
  termName: 255,
  createdBy: 64,
  undoneBy: 64,
  startDate: 10,
  endDate: 10,
}

/** Maximum number of items of lists without a limit in the contract, by the last name of their path. */
const items: Readonly<Record<string, number>> = {
  data: 100,
  results: 1000,
  errors: 100,
  modifiedAttributes: 100,
  changes: 10_000,
  attempts: 50,
  webhook: 2,
  checks: 20,
  // An entry per action of the audit log.
  counts: 200,
  // An entry per course of the academy.
  byCourse: 1_000_000,
  attention: 1_000_000,
  items: 100,
  // An entry per item of a course.
  grades: 5_000,
}

/**
 * Adds the limits that linters require and by which clients allocate memory: every text and list has a maximum, every
 * whole number fits 32 bits.
 *
 * @param name the last name of its path
 */
export function limited(schema: Schema, name: string): Schema {
  const types = [schema.type ?? []].flat()
  if (schema.enum || 'const' in schema) return schema
  if (types.includes('integer')) {
    return { minimum: 0, maximum: int32, ...schema, format: 'int32' }
  }
  if (types.includes('array') && schema['maxItems'] === undefined) {
    const most = schema.items?.enum?.length ?? items[name]
    return most === undefined ? schema : { ...schema, maxItems: most }
  }
  if (!types.includes('string') || schema['maxLength'] !== undefined) return schema
  const most =
    schema['format'] === 'date-time' ? 64 : (characters[name] ?? (/^id$|Id$/.test(name) ? 64 : undefined))
  return most === undefined ? schema : { ...schema, maxLength: most }
}
