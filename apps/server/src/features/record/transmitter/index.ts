export {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
} from './transmitter.tokens.service.ts';
