import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import type { SignInPlan } from '../sign-in/by-oauth.ts'
import { UsageError } from '../terminal/errors.ts'

/** What only a sign-in by OAuth 2.0 takes. */
const oauthFlags: readonly Flag[] = [
  {
    name: 'device',
    kind: 'switch',
    summary: 'Sign in with a code that is typed in on another machine',
  },
  {
    name: 'scope',
    kind: 'words',
    placeholder: 'scopes',
    summary: 'Scopes to ask for (default all that your role may have; on other platforms "read write")',
  },
  {
    name: 'browser',
    kind: 'switch',
    negatable: true,
    summary: 'Open the page by itself, or only print its address',
  },
  {
    name: 'client-id',
    kind: 'text',
    placeholder: 'id',
    summary: 'Sign in as this application, registered with the platform; learnctl unless given',
  },
  {
    name: 'client-secret-stdin',
    kind: 'switch',
    summary: 'Read the secret of the application from standard input',
  },
  {
    name: 'redirect-uri',
    kind: 'text',
    placeholder: 'address',
    summary: 'Listen at the redirect URI that the application is registered with',
  },
  {
    name: 'token-url',
    kind: 'text',
    placeholder: 'address',
    summary: 'Exchange the code here, whatever the platform says of itself',
  },
]

/** `learnctl auth login` */
export const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform, with a browser, a code or an API key',
  description: `Without a flag it shows a page in the browser and waits for 5 minutes until somebody has
signed in there. Where the browser is on another machine, paste the address that it ends up
at, or use --device. What is signed in to becomes a profile, the active one.

An API key is read from standard input; on a terminal it is asked for and not shown. The
secret of an application may also come from LEARNCTL_CLIENT_SECRET.`,
  flags: [
    { name: 'with-key', kind: 'switch', summary: 'Sign in with an API key from standard input' },
    ...oauthFlags,
  ],
  examples: [
    'auth login --url https://academy.example.org',
    'auth login --device --url https://academy.example.org --scope read',
    'auth login --with-key --url https://academy.example.org < key.txt',
  ],
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const { flags } = given
  const device = flags['device'] === true
  if (flags['with-key'] === true) {
    exclude('--with-key', given, oauthFlags)
    return (await import('../sign-in/by-key.ts')).signInWithKey(context)
  }
  if (device) {
    exclude(
      '--device',
      given,
      oauthFlags.filter(({ name }) => name === 'redirect-uri'),
    )
  }
  const plan = await (await import('../sign-in/plan.ts')).planSignIn(context, given)
  if (plan !== null) await signIn(context, plan, device)
}

function exclude(way: string, { flags }: Given, others: readonly Flag[]): void {
  const other = others.find(({ name }) => flags[name] !== undefined)
  if (!other) return
  const name = flags[other.name] === false ? `no-${other.name}` : other.name
  throw new UsageError(`${way} and --${name} exclude each other`)
}

async function signIn(context: Context, plan: SignInPlan, device: boolean): Promise<void> {
  const { signInWithBrowser, signInWithCode } = await import('../sign-in/by-oauth.ts')
  const { tellSignedIn } = await import('../sign-in/outcome.ts')
  await tellSignedIn(
    context,
    plan,
    await (device ? signInWithCode(context, plan) : signInWithBrowser(context, plan)),
  )
}
