import * as z from 'zod'
import { xapiVersions } from './constants.ts'
import { field, named, sent, shown } from './fields.ts'
import { optional, Time, text, WebAddress } from './values.ts'

/** The one that reveals least first. */
export const actors = ['id', 'external-id', 'email'] as const
export type Actor = (typeof actors)[number]

/** An address that leads nowhere, for an academy without a home page. */
export const defaultHomePage = 'http://localhost'

export const HomePage = WebAddress.refine(
  (address) => {
    const url = URL.canParse(address) ? new URL(address) : undefined
    return !url || `${url.username}${url.password}${url.search}${url.hash}` === ''
  },
  {
    params: { code: 'invalid_url' },
    error: 'must not contain a user name, a password, a query or a fragment',
  },
)

const languageMap = z.record(z.string(), z.string().max(255))

const Account = shown(() => ({
  homePage: field(z.string().max(2048), 'URL of the academy'),
  name: field(z.string(), 'Id of the learner, or the school’s own id'),
}))

const Agent = shown(() => ({
  objectType: field(z.literal('Agent'), 'What it is'),
  account: field(Account.optional(), 'Account of the learner; absent with mbox'),
  mbox: field(
    z.string().max(1024).optional(),
    'E-mail address of the learner as mailto: IRI; absent with an account',
  ),
}))

const Verb = shown(() => ({
  id: field(z.string(), 'IRI of the verb'),
  display: field(languageMap, 'The verb by language'),
}))

const Definition = shown(() => ({
  type: field(z.string(), 'IRI of the kind of activity'),
  name: field(
    languageMap.optional(),
    'Title of the course, or name of the item, by language; und if none is set',
  ),
}))

const Activity = shown(() => ({
  objectType: field(z.literal('Activity'), 'What it is'),
  id: field(z.string().max(8192), 'IRI of the course, or of an item in it'),
  definition: field(Definition.optional(), 'What the activity is'),
}))

const Score = shown(() => ({
  scaled: field(z.number(), 'Score ÷ maximum, at most 1'),
  raw: field(z.number(), 'Score'),
  min: field(z.number(), 'Lowest score, 0'),
  max: field(z.number().optional(), 'Maximum; absent where the score exceeds it'),
}))

const Result = shown(() => ({
  score: field(Score.optional(), 'Score, of scored, passed and failed'),
  success: field(z.boolean().optional(), 'Whether the grade passes, of passed and failed'),
  completion: field(z.boolean().optional(), 'True, of completed'),
  extensions: field(
    z.record(z.string(), z.number()).optional(),
    'Percentage of the course as a whole number, of progressed (cmi5)',
  ),
}))

const Context = shown(() => ({
  registration: field(z.string().max(36), 'UUID of the enrolment'),
  platform: field(z.string().max(64), 'Platform that the statement comes from'),
  contextActivities: field(
    shown(() => ({ parent: field(z.array(Activity).max(1), 'Course of the item') })).optional(),
    'Activities that belong to it; absent for a course',
  ),
}))

export const Statement = named(
  'Statement',
  'An xAPI statement: what one learner did in one course, without the learner’s name',
  shown(() => ({
    id: field(z.string(), 'UUID; the same for the same record and actor'),
    actor: field(Agent, 'Learner'),
    verb: field(Verb, 'initialized, progressed, completed, scored, passed or failed'),
    object: field(Activity, 'Course or item'),
    result: field(Result.optional(), 'What came of it'),
    context: field(Context, 'What it belongs to'),
    timestamp: field(Time, 'When it happened'),
    version: field(z.string().optional(), 'Version of the statement; absent for 1.0.3'),
  })),
)
export type Statement = z.output<typeof Statement>

const oneLine = text(1, 255).regex(/^[^\p{Cc}]*$/u, 'must be one line')

export const XapiSettings = sent({
  xapiVersion: field(z.enum(xapiVersions).default('1.0.3'), 'Version of xAPI'),
  actor: field(
    z.enum(actors).default('id'),
    'How learners are named: id, which reveals least, external-id (else id) or email',
    'Name learners by id, by your own external id, or by e-mail address',
  ),
  homePage: field(
    HomePage.default(defaultHomePage),
    'URL of the academy, which accounts, activities and ids begin with',
  ),
  username: field(
    optional(oneLine),
    'User name of the record store, or client id with a token URL; null for none',
    'User name of the record store, or client id with --token-url',
  ),
  tokenUrl: field(
    optional(HomePage),
    'Where an access token is granted for the client (OAuth 2.0 client credentials); null for Basic authentication',
    'URL that grants access tokens (OAuth 2.0 client credentials), instead of Basic authentication',
  ),
  scope: field(
    optional(oneLine),
    'Scope of the access token; null for that of the client',
    'Scope of the access token',
  ),
})
export type XapiSettings = z.output<typeof XapiSettings>
