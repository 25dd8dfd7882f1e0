import * as z from 'zod'
import { machineScopes } from './constants.ts'
import { answered, field, named, sent, shown } from './fields.ts'
import { listOf, paging, period } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull } from './record-fields.ts'
import { Time, text } from './values.ts'

const maxUriLength = 2048

type RedirectKind = 'https' | 'loopback' | 'private_use'

/**
 * Null for an invalid URI: not absolute, with fragment or user (RFC 6749 §3.1.2, RFC 8252 §7), or not in normal form,
 * because it is compared character by character (RFC 9700 §4.1.3).
 */
function redirectKindOf(uri: string): RedirectKind | null {
  if (uri.length > maxUriLength) return null
  if (!/^[\w.~:/?[\]@!$&'()*+,;=%-]+$/.test(uri) || !URL.canParse(uri)) return null
  const { username, password } = new URL(uri)
  if (username !== '' || password !== '') return null
  if (/^https:\/\/[^/?@]+([/?]|$)/.test(uri)) return 'https'
  if (/^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?([/?]|$)/.test(uri)) return 'loopback'
  return /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:\/./i.test(uri) ? 'private_use' : null
}

const RedirectUri = z
  .string()
  .max(maxUriLength, { abort: true })
  .meta({ format: 'uri' })
  .refine((uri) => redirectKindOf(uri) !== null, {
    params: { code: 'invalid_redirect_uri' },
    error:
      'must be an https URI, an http URI on 127.0.0.1, [::1] or localhost, or a private-use scheme such as com.example.app:/callback, without a fragment or user name',
  })

const Comparable = z.object({
  redirectUris: z.array(z.string()).default([]),
  public: z.boolean().default(false),
  machineScopes: z.array(z.string()).default([]),
})

const attributes = {
  name: field(
    text(1, 255),
    'Name of the application, shown to users who are asked for consent',
    'Name, shown to users who are asked for access',
  ),
  redirectUris: field(
    z.array(RedirectUri).max(20).optional(),
    'Where users are redirected; must match exactly, except for the port on 127.0.0.1 and [::1]. Required, unless the application has machine scopes',
    'Redirect URI',
  ),
  public: field(
    z.boolean().default(false),
    'Whether it is a public client, such as a desktop or mobile app, which gets no secret',
    'Public client, such as a desktop or mobile app, which gets no secret',
  ),
  machineScopes: field(
    z.array(z.enum(machineScopes)).max(machineScopes.length).default([]),
    'What the application may do for itself, without a user, over OneRoster: it gets tokens by its client credentials (default nothing)',
    'What it may do for itself, without a user, over OneRoster',
  ),
}

export const AppInput = named(
  'AppInput',
  'The attributes of a new OAuth application',
  sent(attributes, (object) =>
    object.superRefine(
      (input, context) => {
        // Faults of other fields do not keep this from being called, so absent fields have no defaults yet.
        const { redirectUris, public: isPublic, machineScopes: own } = Comparable.parse(input)
        if (redirectUris.length === 0 && own.length === 0) {
          const path = ['redirectUris']
          const params = { code: input.redirectUris ? 'too_short' : 'required' }
          context.addIssue({ code: 'custom', path, params, message: 'is required without machineScopes' })
        }
        if (isPublic && own.length > 0) {
          const [path, params] = [['machineScopes'], { code: 'not_confidential' }]
          context.addIssue({ code: 'custom', path, params, message: 'requires an application with a secret' })
        }
        if (isPublic) return
        for (const [index, uri] of redirectUris.entries()) {
          if (redirectKindOf(uri) !== 'private_use') continue
          context.addIssue({
            code: 'custom',
            path: ['redirectUris', index],
            params: { code: 'invalid_redirect_uri' },
            message: 'must be https or a loopback address; private-use schemes require a public application',
          })
        }
      },
      // Checked even if another field is invalid, so that all problems are reported together.
      { when: ({ value }) => Comparable.safeParse(value).success },
    ),
  ),
)
export type AppInput = z.output<typeof AppInput>

function shownFields() {
  return {
    clientId: field(z.string(), 'Client id of the application, its client_id in OAuth 2.0'),
    ...answered(attributes),
    createdAt: field(Time, 'When the application was registered'),
  }
}

export const App = named('App', 'An OAuth application, without its secret', shown(shownFields))
export type App = z.output<typeof App>

/** The only response with the secret. */
export const NewApp = named(
  'NewApp',
  'A new OAuth application, with its secret',
  shown(() => ({
    ...shownFields(),
    clientSecret: textOrNull(
      'The client secret. Shown only once: null for a public application and in a replayed response',
    ),
  })),
)
export type NewApp = z.output<typeof NewApp>

export const apps = operationsOf('apps', {
  list: {
    at: 'GET /v1/apps',
    summary: 'List OAuth applications',
    scope: 'admin',
    query: z.strictObject({ ...period('Registered', 'createdAt'), ...paging }),
    ...listOf(App, 'OAuth applications'),
    identifier: 'clientId',
  },
  create: {
    at: 'POST /v1/apps',
    summary: 'Register an OAuth application',
    scope: 'admin',
    body: AppInput,
    response: NewApp,
    identifier: 'clientId',
    secret: 'clientSecret',
  },
  delete: {
    at: 'DELETE /v1/apps/{clientId}',
    summary: 'Delete an OAuth application',
    scope: 'admin',
    response: null,
  },
})
