import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseError } from '../database/database.ts'
import { upgradeFile } from './open-academy.ts'
import type { FromUpgrade } from './upgrade-in-process.ts'

const path = process.argv[2] ?? ''

const tell = (message: FromUpgrade) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve())
  })

// The parent has gone: release the lock for the next upgrade.
process.on('disconnect', () => process.exit())

async function upgrade(): Promise<void> {
  try {
    await upgradeFile(
      path,
      () => new Date(),
      async (step, steps) => {
        await tell({ kind: 'step', step, steps })
        await nextTurn()
      },
    )
    await tell({ kind: 'done' })
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error))
    await tell({ kind: 'failed', message, hint: error instanceof DatabaseError ? error.hint : undefined })
  }
  process.disconnect()
}

void upgrade()
