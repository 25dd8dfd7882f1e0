import { resolve } from 'node:path'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { noTarget, notAList } from '../command/refusals.ts'
import { openTarget } from '../terminal/target-file.ts'

const fields = ['kid', 'file', 'jwksFile']
const shape = { table: fields, paths: fields, identifier: 'kid' }

/** `learnctl webhooks generate-key` */
export const keyCommand: Command = {
  name: 'generate-key',
  summary: 'Generate a key pair to sign Canvas events in tests',
  description:
    'Writes an RSA private key (JWK) for webhooks send --signing-key, and the key set (JWKS) that the canvas integration\nchecks signatures with. Real events are signed with the keys that Canvas publishes.',
  flags: [
    {
      name: 'file',
      kind: 'text',
      placeholder: 'file',
      summary: 'File for the private key, readable by you alone',
      default: 'canvas-key.json',
    },
    {
      name: 'jwks-file',
      kind: 'text',
      placeholder: 'file',
      summary: 'File for the public key set',
      default: 'canvas-jwks.json',
    },
    { name: 'force', kind: 'switch', summary: 'Overwrite the files if they exist' },
  ],
  refuses: { ...noTarget, ...notAList, dryRun: 'It only writes files on this machine' },
  examples: [
    'webhooks generate-key',
    'webhooks generate-key --file test.json --jwks-file test-jwks.json --force',
  ],
  run,
}

async function run({ io, output }: Context, { flags }: Given): Promise<void> {
  output.check(shape)
  const file = String(flags['file'] ?? 'canvas-key.json')
  const jwksFile = String(flags['jwks-file'] ?? 'canvas-jwks.json')
  const force = flags['force'] === true
  const { newSigningKey } = await import('../simulator/signing-material.ts')
  const { kid, privateKey, keySet } = newSigningKey()
  // Opens both files before writing either.
  const privateFile = await openTarget(io.cwd, file, { force, mode: 0o600 })
  try {
    const publicFile = await openTarget(io.cwd, jwksFile, { force, mode: 0o644 })
    await publicFile.write(Buffer.from(`${keySet}\n`))
    await publicFile.finish()
    await privateFile.write(Buffer.from(`${privateKey}\n`))
    await privateFile.finish()
  } catch (error) {
    await privateFile.discard()
    throw error
  }
  const made = { kid, file: resolve(io.cwd, file), jwksFile: resolve(io.cwd, jwksFile) }
  await output.one(made, shape)
}
