import * as z from 'zod'
import { type Action, auditedActions, auditedNouns, type Noun } from './actions.ts'
import { field, named, shown } from './fields.ts'
import { choiceOf, exactly, listOf, ofUserOrEmail, oneOf, paging, period, sorting } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull } from './record-fields.ts'
import { Time } from './values.ts'

const Changed = z.record(z.string(), z.unknown())
const actions = auditedActions as readonly [Action, ...Action[]]
const nouns = auditedNouns as readonly Noun[] as readonly [Noun, ...Noun[]]
const Digest = z.string().length(64)

export const AuditEntry = named(
  'AuditEntry',
  'An entry of the audit log',
  shown(() => ({
    id: field(z.string(), 'Id of the entry, aud_…'),
    at: field(Time, 'When it was done'),
    userId: textOrNull('Id of the user who did it; null if unknown'),
    userEmail: textOrNull('E-mail address of that user as it is now'),
    credential: textOrNull(
      'What it was done with: the id of an API key, a grant or an application, browser for the dashboard, local for a program with the database in its own process; null without one',
    ),
    action: field(z.enum(actions), 'What was done'),
    noun: field(z.enum(nouns), 'What it was done to: the part of the action before the dot'),
    subjectId: textOrNull('Id of what it was done to; null for what has none'),
    subjectName: textOrNull(
      'What that was called: a title, an e-mail address, a name, a URL or the kind of a system',
    ),
    aboutId: textOrNull(
      'Id of the user that the subject concerns, such as the learner of an enrolment; null if it concerns no user, or is one',
    ),
    address: textOrNull(
      'Network address that the request came from; null for a program with the database in its own process',
    ),
    userAgent: textOrNull('What the program called itself that sent the request'),
    requestId: textOrNull('Id of the request, as the server log has it'),
    changeId: textOrNull('Id of the change of many records that it was part of; null if it was none'),
    before: field(
      Changed.nullable(),
      'What changed, as it was before; the whole thing where it was deleted, null where it was created. A value longer than 4,096 characters is given as its SHA-256',
    ),
    after: field(
      Changed.nullable(),
      'What changed, as it was afterwards; the whole thing where it was created, null where it was deleted',
    ),
    place: field(z.int().nullable(), 'Place in the chain, from 1 on; null until it is linked'),
    originSalt: textOrNull('Random text that is part of originDigest; null where the origin was erased'),
    originDigest: field(Digest, 'SHA-256 of the JSON array [originSalt, address, userAgent]'),
    detailsSalt: textOrNull('Random text that is part of detailsDigest; null where the details were erased'),
    detailsDigest: field(
      Digest,
      'SHA-256 of the JSON array [detailsSalt, requestId, subjectName, before, after], with changeId as its last item unless that is null',
    ),
    hash: field(
      Digest.nullable(),
      'SHA-256 of the JSON array [hash of the entry before, place, id, at, userId, credential, action, subjectId, aboutId, originDigest, detailsDigest]; that of the entry before the first is 64 zeros',
    ),
  })),
)
export type AuditEntry = z.output<typeof AuditEntry>

/** Its entries are never changed or deleted. */
export const audit = operationsOf('audit', {
  list: {
    at: 'GET /v1/audit',
    summary: 'List the entries of the audit log',
    scope: 'admin',
    query: z.strictObject({
      user_id: ofUserOrEmail,
      credential: exactly('credential', 'credential'),
      action: choiceOf('action', actions),
      noun: oneOf('noun', z.enum(nouns), nouns, { what: 'type of record' }),
      subject_id: exactly('the id of the record', 'subjectId'),
      change_id: exactly('the id of the change of many records', 'changeId'),
      request_id: exactly('the id of the request', 'requestId'),
      ...period('Recorded', 'at'),
      sort: sorting(['at', 'place'], '-at'),
      ...paging,
    }),
    ...listOf(AuditEntry, 'the audit log'),
  },
  get: {
    at: 'GET /v1/audit/{entryId}',
    summary: 'Show an entry of the audit log',
    scope: 'admin',
    response: AuditEntry,
  },
})
