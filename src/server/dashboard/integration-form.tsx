import { type GradeToProgress, gradeToProgressChoices, type LmsKind } from '../../contract/constants.ts'
import { type Integration, IntegrationInput } from '../../contract/integrations.ts'
import { bodyIn, type FormField, type FormPart, type RecordForm } from './record-form.tsx'

const progressWords: Readonly<Record<GradeToProgress, string>> = {
  none: 'A grade leaves progress as it is',
  completed_on_pass: 'A passed course is completed (100%)',
  percent: 'The grade of the course is the percentage completed',
}

/** Its secrets are write-only. */
export function integrationForm(kind: LmsKind, integration: Integration | undefined): RecordForm {
  const { accessToken = null, clientSecret = null, webhook = [] } = integration?.secrets ?? {}
  return {
    label: 'Configure the integration',
    button: integration ? 'Save changes' : 'Connect',
    body: IntegrationInput,
    action: 'save',
    fields: [
      {
        name: 'webhookSecrets',
        label: 'Webhook secret',
        look: 'secret',
        hint: secretHint(webhook[0]),
        read: (text) => [text],
      },
      ...(webhook.length === 0 ? [] : webhookSecretChoices(webhook.length > 1)),
      {
        name: 'baseUrl',
        label: 'Base URL',
        hint: 'Address of the other system, for connection checks',
      },
      ...(kind === 'oneroster' ? clientFields(clientSecret) : []),
      ...(kind === 'classroom' || kind === 'oneroster'
        ? []
        : [
            {
              name: 'accessToken',
              label: 'Access token',
              look: 'secret' as const,
              hint: secretHint(accessToken),
            },
          ]),
      ...(accessToken === null
        ? []
        : [{ name: 'removeToken', look: 'checkbox' as const, label: 'Remove the access token' }]),
      ...(kind === 'canvas' ? canvasFields : []),
      {
        name: 'gradeToProgress',
        label: 'Effect of a grade on progress',
        choices: gradeToProgressChoices.map((value) => ({ value, words: progressWords[value] })),
      },
      {
        name: 'defaultGradeMaximum',
        label: 'Maximum score',
        hint: 'Of a score that is sent without one',
      },
    ],
  }
}

type StoredSecret = { readonly setAt: string; readonly last4: string | null }

function secretHint(set: StoredSecret | null | undefined): string {
  if (!set) return 'Not set'
  const end = set.last4 === null ? '' : `, ends in ${set.last4}`
  return `Set on ${set.setAt.slice(0, 10)}${end}. Leave it empty to keep it`
}

function webhookSecretChoices(hasPrevious: boolean): (FormField | FormPart)[] {
  const end = {
    name: 'endPrevious',
    look: 'checkbox',
    label: 'Reject the previous secret from now on',
  } as const
  const label = hasPrevious ? 'Remove both webhook secrets' : 'Remove the webhook secret'
  return [
    {
      name: 'oldSecretEndsAt',
      label: 'When you enter another webhook secret',
      // In hours.
      choices: [
        { value: '24', words: 'Accept the previous secret for 24 hours' },
        { value: '168', words: 'Accept it for 7 days' },
        { value: '0', words: 'Reject it at once' },
      ],
      read: () => undefined,
    },
    {
      legend: 'Webhook secrets in use',
      fields: [...(hasPrevious ? [end] : []), { name: 'removeSecrets', look: 'checkbox', label }],
    },
  ]
}

function clientFields(secret: StoredSecret | null): FormField[] {
  return [
    { name: 'tokenUrl', label: 'Token URL', hint: 'Where access tokens are requested' },
    { name: 'clientId', label: 'Client ID', hint: 'Of the client that the provider registered' },
    { name: 'clientSecret', label: 'Client secret', look: 'secret', hint: secretHint(secret) },
  ]
}

const canvasFields: readonly FormField[] = [
  { name: 'rootAccountUuid', label: 'Root account UUID', hint: 'Events signed by Canvas must carry it' },
  {
    name: 'jwksUrl',
    label: 'URL of the signing keys',
    hint: 'Empty for the keys that Canvas publishes',
  },
  {
    name: 'jwks',
    label: 'Signing keys (JSON)',
    hint: 'A JSON Web Key Set, for servers that cannot fetch the keys',
  },
]

/** A merge patch. An empty secret field leaves the secret as it is, unless its removal is chosen. */
export function integrationInputOf(form: URLSearchParams, kind: LmsKind, now: Date): Record<string, unknown> {
  const body = bodyIn(integrationForm(kind, undefined), form)
  const isChosen = (name: string) => form.get(name) === 'true'
  const hasSecret = body['webhookSecrets'] !== undefined
  return {
    ...(!hasSecret && isChosen('endPrevious') && { oldSecretEndsAt: null }),
    ...(!hasSecret && isChosen('removeSecrets') && { webhookSecrets: null }),
    ...(isChosen('removeToken') && { accessToken: null }),
    ...body,
    ...(hasSecret && overlapOf(Number(form.get('oldSecretEndsAt') ?? 0), now)),
  }
}

/** Empty if it ends at once. */
export function overlapOf(hours: number, now: Date): { readonly oldSecretEndsAt?: string } {
  if (!(hours > 0 && hours <= 168)) return {}
  return { oldSecretEndsAt: new Date(now.getTime() + hours * 60 * 60 * 1000).toISOString() }
}
