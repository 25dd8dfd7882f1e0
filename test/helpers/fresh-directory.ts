import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const enoughBytes = 1024 ** 3

/** Parent of test directories: in memory if possible, because thousands of academies would wait for the disk. */
const root = hasRoom(memory) ? memory : tmpdir()

/** Makes a directory for the files of a test. */
export function freshDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(root, 'learnctl-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > enoughBytes
  } catch {
    return false
  }
}
