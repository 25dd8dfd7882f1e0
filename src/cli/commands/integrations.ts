import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { lmsKinds } from '../../contract/constants.ts'
import { type Argument, type Command, checkArgument, type Given, noColumns } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { browserFlag, googleClientIdFlag, googleRedirectUriFlag } from '../command/flag.ts'
import { clientSecret, secretFlags } from '../command/secret-input.ts'
import { fields, filters, mappingFilters } from '../flags/integrations.ts'
import { call } from '../operation/operation-command.ts'
import { updatedLine } from '../operation/thing-name.ts'
import {
  integrationBody,
  integrationFlags,
  integrationSecretFlags,
  outputWith,
  readSecrets,
  shownSecret,
} from './integration-input.ts'
import { mapCommand, unmapCommand } from './mappings.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.integrations

const kind = {
  name: 'kind',
  summary: `Kind of the other system: ${lmsKinds.join(', ')}`,
  choices: lmsKinds,
}
const listed = ['lmsKind', 'baseUrl', 'gradeToProgress', 'webhookPath', 'updatedAt']
const columns = [...listed, 'secrets', 'gradeItems', 'rootAccountUuid', 'clientId', 'version']

const integration = recordCommands({
  operations: contract,
  argument: kind,
  parameter: 'lmsKind',
  noun: 'integration',
  columns,
  filters,
  nameOf: (_, { arguments: { kind } }) => `integration ${kind}`,
})

function setCall(fixed: object, generates: boolean): Command {
  return call({
    name: 'set',
    summary: 'Create or update an integration',
    description: `Only the given settings change. Secrets come from standard input, an environment variable or a hidden prompt, and are
never shown again. A new webhook secret is accepted at once; the previous one is accepted until --old-secret-until, so
that the other system can be changed meanwhile.`,
    operation: async () => (await contract()).set,
    arguments: { lmsKind: kind },
    fields,
    flags: [...integrationFlags, ...integrationSecretFlags],
    fixed,
    merge: true,
    versioned: true,
    columns: generates ? ['lmsKind', 'webhookPath', 'version'] : columns,
    ...(!generates && {
      done: (answer: unknown, { arguments: { kind } }: Given, unchanged: boolean) =>
        unchanged
          ? updatedLine('Set up', `integration ${kind}`, answer, unchanged)
          : `Set up integration ${kind}`,
    }),
    examples: [
      'integrations set canvas --base-url https://school.instructure.com --root-account-uuid vR4bVbE4zCeK',
      'integrations set moodle --generate-secret --grade-item 12=20',
      'integrations set thinkific --webhook-secret-stdin < secret.txt',
      'integrations set openedx --grade-to-progress completed_on_pass',
      'integrations set oneroster --client-id learnctl --client-secret-stdin < secret.txt',
    ],
  })
}

async function runSet(context: Context, given: Given): Promise<void> {
  const { output, settings } = context
  const secrets = await readSecrets(context, given)
  const fixed = { ...secrets.body, ...(await integrationBody(context, given)) }
  const { generated } = secrets
  const command = setCall(fixed, generated !== undefined)
  if (generated === undefined || settings.dryRun.value) await command.run(context, given)
  else {
    const { assertSecretShown } = await import('../operation/prepare-call.ts')
    const paths = [...columns, shownSecret]
    assertSecretShown(context, shownSecret, { table: paths, paths })
    await command.run({ ...context, output: outputWith(output, generated) }, given)
  }
  if (settings.dryRun.value || settings.quiet.value || settings.output.value !== 'table') return
  const hasNewSecret = 'webhookSecrets' in secrets.body
  const { webhookNotes } = await import('../webhooks/next-steps.ts')
  for (const note of await webhookNotes(context, given.arguments['kind'] ?? '', hasNewSecret)) {
    await output.note(note)
  }
}

function checksIn(answer: unknown): readonly JsonObject[] {
  const checks = isJsonObject(answer) ? answer['checks'] : undefined
  return Array.isArray(checks) ? checks.filter(isJsonObject) : []
}

const signInKind: Argument = {
  name: 'kind',
  summary: 'Kind of the other system: classroom',
  choices: ['classroom'],
}

const signInCommand: Command = {
  name: 'sign-in',
  summary: 'Sign in to Google Classroom for an integration',
  writes: ['academy'],
  prints: [],
  description: `Opens Google's sign-in page in the browser, for an OAuth client of your own (Google Cloud Console, type Desktop app).
The client and the refresh token are stored encrypted in the integration and never shown again. Without --client-id,
the client id of the integration is used.`,
  arguments: [signInKind],
  flags: [
    googleClientIdFlag,
    ...secretFlags(clientSecret),
    {
      name: 'read-only',
      kind: 'switch',
      summary: 'Only ask to read; without it, courses and grades can be written, too',
    },
    googleRedirectUriFlag,
    browserFlag,
  ],
  refuses: noColumns,
  examples: [
    'integrations sign-in classroom --client-id 1234-abc.apps.googleusercontent.com --client-secret-stdin < secret.txt',
    'integrations sign-in classroom --read-only --client-secret-stdin < secret.txt',
  ],
  run: async (context, given) => {
    checkArgument(signInKind, given.arguments['kind'])
    const { signInToIntegration } = await import('../sign-in/integration-sign-in.ts')
    return signInToIntegration(context, given)
  },
}

export const commands: readonly Command[] = [
  integration.list({ columns: listed, examples: ['integrations list', 'integrations list -o json'] }),
  integration.get({
    summary: 'Show an integration',
    examples: ['integrations get moodle', 'integrations get moodle -o yaml'],
  }),
  { ...setCall({}, false), prints: ['SetIntegration'], run: runSet },
  signInCommand,
  call({
    name: 'test',
    summary: 'Check the connection to the other system',
    writes: [],
    description:
      'Asks the other system whose access token it is, and checks what the integration needs. What is not set up is\nskipped: an integration for events needs no access token, and one that is only read needs no webhook secret. Exits with 1 if a check\nfails, or if nothing could be checked.',
    operation: async () => (await contract()).test,
    arguments: { lmsKind: kind },
    columns: ['lmsKind', 'passed', 'webhookPath', 'checks'],
    rows: {
      columns: ['name', 'status', 'detail'],
      from: checksIn,
    },
    // A narrow terminal truncates the table, so failed checks are repeated in full.
    notes: (answer) => {
      const checks = checksIn(answer)
      const failed = checks.filter(({ status }) => status === 'failed')
      if (failed.length === 0 && isJsonObject(answer) && answer['passed'] === false) {
        return `Nothing could be checked: ${checks.map(({ detail }) => detail).join('; ')}`
      }
      return failed.length === 0 ? null : failed.map(({ name, detail }) => `${name}: ${detail}`).join('; ')
    },
    exits: (answer) => (isJsonObject(answer) && answer['passed'] === false ? 'failure' : null),
    examples: ['integrations test moodle'],
  }),
  integration.delete({
    summary: 'Delete integrations and their secrets',
    operation: async () => (await contract()).remove,
    versioned: true,
    consequence: 'Its secrets are deleted, and its events are refused. Mappings and grades are kept.',
    consequences: 'Their secrets are deleted, and their events are refused. Mappings and grades are kept.',
    done: (_, { arguments: { kind } }) =>
      `Deleted integration ${kind}; set it up again with: learnctl integrations set ${shellWord(kind ?? '')}`,
    examples: [
      'integrations delete thinkific --yes',
      'integrations list -q | learnctl integrations delete --ids - --yes',
    ],
  }),
  call({
    name: 'mappings',
    summary: 'List the mappings of courses and users',
    operation: async () => (await contract()).mappings,
    arguments: { lmsKind: kind },
    query: mappingFilters,
    columns: ['noun', 'externalKey', 'name', 'targetStatus', 'reference', 'id'],
    examples: ['integrations mappings moodle', 'integrations mappings moodle --noun course --all -o csv'],
  }),
  mapCommand(kind),
  unmapCommand(kind),
]
