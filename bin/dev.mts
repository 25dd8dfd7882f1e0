import { start } from '../src/cli/main.ts'

await start()
