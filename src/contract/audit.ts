import * as z from 'zod'
import { type Action, auditedActions, auditedNouns, type Noun } from './actions.ts'
import { choices, exactly, ofUser, period, Time } from './field.ts'
import { inPeriod } from './filter.ts'
import { admins, operation } from './operation.ts'
import { page, paging, sorting } from './page.ts'

const Shown = z.record(z.string(), z.unknown())
const actions = auditedActions as readonly [Action, ...Action[]]
const nouns = auditedNouns as readonly Noun[] as readonly [Noun, ...Noun[]]
const Digest = z.string().length(64)

/** One entry of the audit log: who did what, when, with which credential and from where, and what it changed. */
export const AuditEntry = z.object({
  id: z.string(),
  at: Time,
  userId: z.string().nullable(),
  userEmail: z.string().nullable(),
  credential: z.string().nullable(),
  action: z.enum(actions),
  noun: z.enum(nouns),
  subjectId: z.string().nullable(),
  subjectName: z.string().nullable(),
  aboutId: z.string().nullable(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  before: Shown.nullable(),
  after: Shown.nullable(),
  place: z.int().nullable(),
  originSalt: z.string().nullable(),
  originDigest: Digest,
  detailsSalt: z.string().nullable(),
  detailsDigest: Digest,
  hash: Digest.nullable(),
})
export type AuditEntry = z.output<typeof AuditEntry>

/** The audit log, for admins. Nothing changes or deletes its entries. */
export const audit = {
  list: operation({
    id: 'audit.list',
    method: 'GET',
    path: '/v1/audit',
    summary: 'List the entries of the audit log',
    published: false,
    scope: 'admin',
    roles: admins,
    query: z.strictObject({
      user_id: ofUser,
      credential: exactly('credential'),
      action: choices(actions).optional(),
      noun: z.enum(nouns).optional().meta({ description: 'Filter by kind of thing' }),
      subject_id: exactly('the id of the thing'),
      ...period('Recorded'),
      sort: sorting(['at', 'place'], '-at'),
      ...paging,
    }),
    response: page(AuditEntry),
    status: 200,
    list: true,
    filters: {
      user_id: { by: 'reference', field: 'userId', to: 'userId', email: 'userEmail' },
      credential: { by: 'equal', field: 'credential' },
      action: { by: 'choice', field: 'action', choices: actions },
      noun: { by: 'choice', field: 'noun', choices: nouns },
      subject_id: { by: 'equal', field: 'subjectId' },
      ...inPeriod('at'),
    },
  }),
  get: operation({
    id: 'audit.get',
    method: 'GET',
    path: '/v1/audit/{entryId}',
    summary: 'Show an entry of the audit log',
    published: false,
    scope: 'admin',
    roles: admins,
    response: AuditEntry,
    status: 200,
  }),
}
