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

/** The table with each path below another one, for a schema inside a schema. */
export function below(path: string, words: Words): Words {
  return Object.fromEntries(
    Object.entries(words).map(([name, text]) => [name === '' ? path : `${path}.${name}`, text]),
  )
}

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
