import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { notAList } from '../command/refusals.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'

/** Time to wait for the outcome; an attempt takes at most 15 s. */
const waitedMs = 20_000
const lookedEveryMs = 250

/** Fields of a test's output. */
const fields = ['result', 'attemptCount', 'id', 'endpointId']
const shape = { table: fields, paths: fields }

/** `learnctl webhooks endpoints test` */
export const testCommand: Command = {
  name: 'endpoints test',
  summary: 'Send a test event to a webhook endpoint',
  description:
    'Sends an event of type endpoint.test, whatever the endpoint subscribes to, and waits up to 20 s for the outcome. The exit\ncode is 1 if the receiver does not accept it; the event is then retried like others.',
  arguments: [{ name: 'endpoint', summary: 'Id of the endpoint' }],
  refuses: notAList,
  examples: ['webhooks endpoints test "$ENDPOINT_ID"'],
  run: test,
}

async function test(context: Context, { arguments: { endpoint = '' } }: Given): Promise<void> {
  const { session, settings, output, io, directories } = context
  output.check(shape)
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  const asked = { params: { endpointId: endpoint } }
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.endpoints.test, asked))
  }
  const { data: queued } = await caller.call(calls.endpoints.test, { ...asked, signal: io.signal })
  const id = String(valueAt(queued, 'id'))
  const target = session.target()
  if (target.kind === 'local' && !(await isServed(directories.state, target.database))) {
    await output.note('Events are sent while a server runs for the academy: learnctl server start')
    return output.done(`Queued test event ${id}`)
  }
  const params = { messageId: id }
  for (const end = io.now() + waitedMs; ; ) {
    const { data } = await caller.call(calls.messages.get, { params, signal: io.signal })
    const result = valueAt(data, 'lastResult')
    const delivered = valueAt(data, 'status') === 'delivered'
    if (delivered) {
      const told = { result, attemptCount: data.attemptCount, id, endpointId: data.endpointId }
      await output.done(`Delivered test event ${id}: ${result}`)
      if (settings.output.value !== 'table' || settings.quiet.value) await output.one(told, shape)
      return
    }
    if (typeof result === 'string') throw refused(id, result)
    if (io.now() >= end) throw refused(id, 'not sent yet')
    await io.sleep(lookedEveryMs, io.signal)
  }
}

async function isServed(stateDirectory: string, database: string): Promise<boolean> {
  const { serverOf } = await import('../local-server/running-servers.ts')
  return (await serverOf(stateDirectory, database)) !== undefined
}

function refused(id: string, result: string): CommandError {
  return new CommandError('not_delivered', 'failure', `Test event ${id} was not delivered: ${result}`, {
    hint: allowHint(result) ?? `Show its attempts: learnctl webhooks messages get ${id}`,
  })
}

/** Suggests what to allow on the server; null for other results. */
function allowHint(result: string): string | null {
  const [, host] = /(\S+) (?:is not a public address|requires https)$/.exec(result) ?? []
  return host === undefined ? null : `Allow it: learnctl server start --webhook-allow ${host}`
}
