import type { Command } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { noColumns, notAList } from '../command/refusals.ts'
import { databaseFile, requireNoServer } from '../local-server/unused-database.ts'
import { databaseFault } from '../session/database-fault.ts'
import { upgradeNotes } from '../session/upgrade-notes.ts'
import { CommandError } from '../terminal/errors.ts'

const instead = "Stop its servers and delete the key's name: delete from settings where name = 'sealing_key'"

/** `learnctl server new-encryption-key` */
export const newEncryptionKeyCommand: Command = {
  name: 'new-encryption-key',
  summary: 'Replace the encryption key of a local academy after it was lost',
  description: `Access tokens and webhook secrets are encrypted with a key in the file <database>.key. Where that is lost, they cannot be
read any more, and none can be stored. After this command, the next secret that is stored makes a new key; the other
ones have to be set again.`,
  refuses: {
    url: 'Only an academy on this machine has its key here',
    columns: noColumns.columns,
    limit: notAList.limit,
  },
  examples: ['server new-encryption-key --yes'],
  run: replaceKey,
}

async function replaceKey(context: Context): Promise<void> {
  const { io, settings, output } = context
  const database = await databaseFile(context, instead)
  await requireNoServer(context, 'replace the encryption key', database)
  const { openAcademy } = await import('../../server/local.ts')
  const watch = upgradeNotes(io, database)
  const academy = await openAcademy({ path: database, watch }).catch((error: unknown) => {
    throw databaseFault(error)
  })
  try {
    const trouble = await academy.encryptionTrouble()
    if (trouble === undefined) {
      throw new CommandError('not_needed', 'conflict', 'The encryption key is not lost', {
        why: ['Everything that is encrypted can be read with it'],
      })
    }
    const consequence = `${trouble.replace(/:.*/s, '')}. Stored secrets have to be set again.`
    await confirmAt(context, 'replace the encryption key', `of ${database}`, consequence)
    if (settings.dryRun.value) return output.note(`Would replace the encryption key of ${database}`)
    await academy.forgetEncryptionKey()
  } finally {
    await academy.close()
  }
  await output.done(`The next secret makes a new encryption key for ${database}`)
  await output.note(
    'See what to set again with: learnctl integrations list, learnctl webhooks endpoints list',
  )
}
