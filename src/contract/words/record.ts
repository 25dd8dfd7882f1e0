/** What each field of a schema is, by its path (`modules.title`); the empty path says what the schema is. */
export type Words = Readonly<Record<string, string>>

/** What the fields are that many records have. */
export const recordWords = {
  externalId:
    'Your own id for this record, such as the one in your student information system; unique per type',
  managedBy: 'External system that manages this record',
  version: 'Number of changes of this record, from 1; also the ETag of the response',
  createdAt: 'When the record was created',
  updatedAt: 'When the record was last changed',
} satisfies Words

/** What the fields of every page of a list are. */
export const pageWords = {
  data: 'The items of this page',
  nextCursor: 'Send it as cursor to get the next page; null on the last page',
  total: 'Number of items on all pages, if requested with include_total=true',
  totalIsExact: 'Whether total is exact; if false, there are at least that many',
} satisfies Words

/** What each entry of a version history says. */
export const versionWords = {
  version: 'Number of the version, from 1',
  createdAt: 'When the version was made',
  userId: 'User who made the version',
  userEmail: 'E-mail address of that user as it is now',
  modifiedAttributes: 'Names of the attributes that differ from the version before',
} satisfies Words

/** What a comparison of two versions says. */
export const diffWords = {
  from: 'Version on the left of the comparison',
  to: 'Version on the right of the comparison',
  changes: 'One entry for each place that differs; lists differ as a whole',
  'changes.pointer': 'JSON Pointer (RFC 6901) into the attributes, such as /assessmentCriteria/passingScore',
  'changes.from': 'Value in the version on the left; absent if it has none',
  'changes.to': 'Value in the version on the right; absent if it has none',
} satisfies Words

/** What is said of everything that was deleted and can be restored. */
export const deletedWords = {
  userId: 'User who deleted it',
  deletedAt: 'When it was deleted',
  restorableUntil:
    'Until when it can be restored, 30 days after it was deleted; then it is deleted permanently',
} satisfies Words

/** The table with each path below another one, for a schema inside a schema. */
export function below(path: string, words: Words): Words {
  return Object.fromEntries(
    Object.entries(words).map(([name, text]) => [name === '' ? path : `${path}.${name}`, text]),
  )
}

/** What a batch takes and answers. */
export const batchWords = {
  '': 'Up to 1,000 items, each of which succeeds or fails on its own',
  items: 'The items, in the order of the results',
  onExists: 'What to do with an item that already exists: fail with 409, update it, or skip it',
} satisfies Words

/** What the result of a batch says. */
export const batchResultWords = {
  '': 'The results of a batch: one for each item, in the same order',
  results: 'One result for each item',
  'results.index': 'Index of the item in the request, from 0',
  'results.status': 'Status of the item: 201 created, 200 updated or unchanged, otherwise the error status',
  'results.id': 'Id of the record; absent if there is none',
  'results.code':
    'unchanged, skipped, a warning such as unweighted, or the error code; absent if the item was created or updated',
  'results.detail': 'What went wrong, or the warning, as a sentence',
  'results.errors': 'All problems of the item',
  'results.errors.pointer': 'JSON Pointer to the field (RFC 6901) in the item, such as #/email',
  'results.errors.code': 'Code of the problem, for programs',
  'results.errors.detail': 'What is wrong with the field, continuing its name',
} satisfies Words

/** What the members of an error are. */
export const problemWords = {
  '': 'An error, as problem details (RFC 9457). Some codes have members of their own',
  type: 'Always about:blank: the status says what kind of problem it is',
  title: 'Name of the HTTP status',
  status: 'HTTP status',
  detail: 'What went wrong, as a sentence',
  instance: 'Path of the request',
  code: 'Error code, for programs',
  requestId: 'Id of the request, as in X-Request-Id and in the server log',
  id: 'With duplicate and enrollment_inactive: id of the conflicting record, if the caller can see it',
  lease: 'With apply_in_progress: the lease that another apply holds',
  time: 'With apply_in_progress: the time of the server, for comparison with the times of the lease',
  existingStatus: 'With duplicate: status of that record',
  current: 'With stale_progress: the progress that is stored',
  version: 'With precondition_failed: the current version',
  scope: 'With insufficient_scope: the scope that is required',
  from: 'With invalid_transition: the current status',
  to: 'With invalid_transition: the requested status',
  allowed: 'With invalid_transition: the allowed statuses',
  errors: 'The problems found in the request, at most 100',
  moreErrors: 'Number of further problems; absent if there are none',
  'errors.pointer': 'JSON Pointer to the field of the body (RFC 6901), such as #/title',
  'errors.parameter': 'Name of the query parameter or header',
  'errors.code': 'Code of the problem, for programs',
  'errors.detail': 'What is wrong there, continuing its name',
} satisfies Words

/** What the checks of a server answer. */
export const healthWords = {
  '': 'The state of the server',
  status: 'Always ok',
  version: 'Version of the server',
  time: 'Current time of the server',
} satisfies Words
