import { type Argument, type Command, checkArgument, noColumns } from '../command/command.ts'
import { browserFlag } from '../command/flag.ts'
import { clientSecret, secretFlags } from '../command/secret-input.ts'

const kindArgument: Argument = {
  name: 'kind',
  summary: 'Kind of the other system: classroom',
  choices: ['classroom'],
}

/** `learnctl integrations sign-in` */
export const signInCommand: Command = {
  name: 'sign-in',
  summary: 'Sign in to Google Classroom for an integration',
  description: `Opens Google's sign-in page in the browser, for an OAuth client of your own (Google Cloud Console, type Desktop app).
The client and the refresh token are stored encrypted in the integration and never shown again. Without --client-id,
the client id of the integration is used.`,
  arguments: [kindArgument],
  flags: [
    { name: 'client-id', kind: 'text', placeholder: 'id', summary: 'Client id of your OAuth client' },
    ...secretFlags(clientSecret),
    {
      name: 'read-only',
      kind: 'switch',
      summary: 'Only ask to read; without it, courses and grades can be written, too',
    },
    {
      name: 'redirect-uri',
      kind: 'text',
      placeholder: 'uri',
      summary: 'Redirect URI of a client of the type Web application, on this machine',
    },
    browserFlag,
  ],
  refuses: noColumns,
  examples: [
    'integrations sign-in classroom --client-id 1234-abc.apps.googleusercontent.com --client-secret-stdin < secret.txt',
    'integrations sign-in classroom --read-only --client-secret-stdin < secret.txt',
  ],
  run: async (context, given) => {
    checkArgument(kindArgument, given.arguments['kind'])
    const { signInToIntegration } = await import('../sign-in/integration-sign-in.ts')
    return signInToIntegration(context, given)
  },
}
