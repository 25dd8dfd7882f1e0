import * as z from 'zod'
import { count, result, shown, text } from './result.ts'

const credential = z.object({
  kind: text,
  value: text.describe('Masked'),
  scopes: z.array(text).nullable(),
  expiresAt: text.nullable(),
  refreshable: z.boolean(),
  source: text,
  shadows: z.array(text),
})

const snapshot = { name: text, createdAt: text, bytes: count, path: text }

export const setupResults = {
  Quickstart: result('The local academy that quickstart made', {
    database: text,
    created: z.boolean(),
    export: text.describe('File with the learners'),
    summary: shown('Summary'),
    email: text.optional().describe('For the dashboard'),
    password: text.optional().describe('For the dashboard, shown only once'),
    next: z.array(text).describe('Commands to try next'),
  }),
  AuthStatus: result('The platform and the credential in use', {
    profile: text.nullable(),
    location: text.describe('URL of the platform, or file of the local academy'),
    source: text.describe('Where the choice comes from'),
    shadows: z.array(text).describe('What it overrides'),
    credential: credential.nullable(),
    user: z.looseObject({}),
  }),
  Profile: result('A profile', {
    name: text,
    active: z.boolean(),
    location: text,
    credential: text.nullable().describe('Kind of its credential, masked'),
    platform: text.nullable().describe('Name of its platform file, and the first 12 digits of its SHA-256'),
  }),
  PlatformField: result('A field of an operation of another platform', {
    operation: text,
    field: text,
    found: text.nullable().describe('JSON Pointer to where it was found'),
    value: text.nullable().describe('Kind of its value'),
    fits: z.enum(['yes', 'guess', 'missing']),
  }),
  StartedServer: result('A server that was started; secrets of a new academy are shown only once', {
    url: text,
    database: text,
    key: text.optional(),
    email: text.optional(),
    password: text.optional(),
  }),
  RunningServer: result('A running server', { url: text, database: text, pid: count, startedAt: text }),
  Backup: result('A backup of an academy', { file: text, database: text, bytes: count }),
  Snapshot: result('A snapshot of a local academy', snapshot),
  CopiedAcademy: result('A copy of an academy', {
    from: text,
    to: text,
    tables: z.array(z.object({ name: text, rows: count })),
    rows: count,
  }),
  Finding: result('A check of the setup', {
    check: text,
    status: z.enum(['ok', 'warning', 'failed']),
    detail: text,
  }),
  OpenedPage: result('A page of the dashboard', { url: text }),
  SetIntegration: z.intersection(
    shown('Integration'),
    z.object({ webhookSecret: text.optional().describe('With --generate-secret, shown only once') }),
  ),
  TestedEndpoint: result('The outcome of a test event', {
    result: text.nullable(),
    attemptCount: count,
    id: text,
    endpointId: text,
  }),
  QueuedMessages: result('Messages that were queued', { endpointId: text, queued: count }),
  SentDelivery: result('A simulated delivery, and what the academy did with it', {
    delivery: count.describe('Its number, from 1'),
    status: count,
    outcome: text,
    deliveryId: text.nullable(),
    reason: text.nullable(),
    durationMs: count,
  }),
  KeyPair: result('Files of a key pair', { kid: text, file: text, jwksFile: text }),
  ArrivedEvent: result('An event that arrived', {
    id: text,
    type: text,
    timestamp: text,
    data: z.looseObject({}),
    forwarded: z
      .object({ status: count.nullable(), durationMs: count, error: text.nullable() })
      .nullable()
      .describe('Outcome of --forward-to'),
  }),
  VerifiedLog: result('The check of the audit log', {
    entries: count,
    erased: count,
    unlinked: count,
    from: text.nullable(),
    to: text.nullable(),
    place: count,
    hash: text.nullable(),
  }),
  Request: result('A request that --dry-run prints, with secrets masked', {
    method: text,
    url: text,
    headers: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
  }),
  Error: result('What an error prints on standard error with -o json', {
    error: z.object({
      code: text,
      exitCode: count,
      message: text,
      hint: text.nullable(),
      status: count.nullable(),
      requestId: text.nullable(),
      retryable: z.boolean(),
      details: z.array(z.unknown()),
    }),
  }),
  AnyJson: z.unknown().meta({ description: 'The response of the platform' }),
} as const
